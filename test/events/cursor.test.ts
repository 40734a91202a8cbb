// Cursors of the event log are sealed for one workspace and are refused when they are too old.
import { beforeEach, describe, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { newId } from '../../src/core/id.ts'
import { createSealer } from '../../src/core/seal.ts'
import { markOf, openCursor, sealCursor } from '../../src/events/log/cursor.ts'
import { readAfter } from '../../src/events/log/log.sql.ts'
import { cursorOf, endOf, numberBefore, resumeAfter } from '../../src/events/log/place.ts'
import { pruneEvents } from '../../src/events/log/prune.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { emitMany, newPlace, openApp, openRelay, type Place, wholeLog } from './rig.ts'

const sealer = createSealer(Buffer.alloc(32, 1))
const ours = newId()
const now = new Date('2026-07-01T10:30:00Z')
const mark = markOf(newId())
const seal = (seq: bigint, workspaceId = ours) => sealCursor(sealer, workspaceId, { seq, mark, at: now })
/** The form of the version before, which has no mark. */
const unmarked = (seq: bigint) => sealCursor(sealer, ours, { seq, mark: undefined, at: now })
const oldForm = (seq: bigint | number) => Buffer.from(`e1:${seq}`).toString('base64url')

describe('a sealed cursor', () => {
  it('opens as the position that it was made from, and only in its workspace', () => {
    for (const seq of [0n, 1n, 999n, 10n ** 17n]) {
      const cursor = seal(seq)
      expect(cursor).toMatch(/^[A-Za-z0-9_-]{22}$/)
      expect(openCursor(sealer, ours, cursor)?.place).toEqual({ seq, mark, at: new Date('2026-07-01T12:00:00Z') })
      expect(openCursor(sealer, ours, unmarked(seq))?.place).toEqual({ seq, at: new Date('2026-07-01T10:00:00Z') })
      expect(openCursor(sealer, newId(), cursor)).toBeUndefined()
      expect(openCursor(createSealer(Buffer.alloc(32, 2)), ours, cursor)).toBeUndefined()
    }
  })

  it('is the same on every process with the same key, so that one text serves all subscribers', () => {
    expect(sealCursor(createSealer(Buffer.alloc(32, 1)), ours, { seq: 7n, mark, at: now })).toBe(seal(7n))
  })

  it('hides its number: cursors of consecutive numbers look unrelated', () => {
    const cursors = Array.from({ length: 1_000 }, (_, n) => Buffer.from(seal(BigInt(n)), 'base64url'))
    expect(new Set(cursors.map((bytes) => bytes.toString('hex'))).size).toBe(1_000)
    const [first, ...others] = cursors as [Buffer, ...Buffer[]]
    for (const [at, byte] of first.entries()) {
      const alike = others.filter((bytes) => bytes[at] === byte).length
      expect(alike).toBeLessThan(40)
    }
    const inOrder = cursors.every((bytes, n) => n === 0 || Buffer.compare(cursors[n - 1] as Buffer, bytes) < 0)
    expect(inOrder).toBe(false)
  })

  it('is rejected when a single bit of it was changed', () => {
    const bytes = Buffer.from(seal(5n), 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      expect(openCursor(sealer, ours, changed.toString('base64url'))).toBeUndefined()
    }
  })

  it.each([
    '',
    'x',
    '1',
    'ZTE6',
    seal(5n).slice(0, -1),
    `${seal(5n)}A`,
    ` ${seal(5n)}`,
    `${oldForm(5)}\n`,
    Buffer.from('e1:-1').toString('base64url'),
    Buffer.from('e1:05').toString('base64url'),
    'A'.repeat(5_000),
  ])('is rejected when it was never issued (%j)', (cursor) => {
    expect(openCursor(sealer, ours, cursor)).toBeUndefined()
  })
})

describe('a reader', () => {
  let databaseUrl: string
  let app: App
  let place: Place
  beforeEach(async () => {
    databaseUrl = await cloneDatabase()
    app = await openApp(databaseUrl)
    await openRelay(app)
    const { workspaceId } = await createAccount(databaseUrl)
    place = { ...newPlace(), workspaceId }
  })

  async function logOf(count: number, where = place): Promise<void> {
    const before = (await wholeLog(databaseUrl)).length
    await emitMany(app.pool, where, count)
    await until(async () => (await wholeLog(databaseUrl)).length === before + count)
  }
  const sealed = (seq: bigint, at = new Date()) => sealCursor(app.sealer, place.workspaceId, { seq, mark: undefined, at })
  const resume = async (cursor: string) => (await resumeAfter(app, place.workspaceId, cursor, 'after')).seq
  const longAgo = (days: number) => new Date(Date.now() - days * 86_400_000)

  it('resumes at any position of the log, but not beyond its end, where a cursor must be from another log', async () => {
    await logOf(3)
    expect(await resume(sealed(3n))).toBe(3n)
    await expect(resume(sealed(4n))).rejects.toThrow('after: is beyond the end of the event log')
    await expect(resume('x')).rejects.toThrow('after: is not an event cursor')
    await expect(numberBefore(app, place.workspaceId, 'x', 'before')).rejects.toThrow('before: is not an event cursor')
  })

  it('gets an error when the log has lost its event and given the number to another one, of its workspace or not', async () => {
    await logOf(3)
    const { events } = await readAfter(app.pool, place.workspaceId, {}, { after: 0n, limit: 3 })
    const cursors = events.map((event) => cursorOf(app, event))
    const end = await endOf(app, place.workspaceId)
    for (const cursor of [...cursors, end.cursor]) expect(await resume(cursor)).toBeGreaterThan(0n)
    // After a restore, the numbers from 2 on were given again: to another event of the workspace, and to one of another workspace.
    let id = newId()
    while (markOf(id) === markOf(events[1]?.id as string)) id = newId()
    await app.pool.query('update events set id = $1 where seq = 2', [id])
    await app.pool.query('update events set "workspaceId" = $1 where seq = 3', [newPlace().workspaceId])
    expect(await resume(cursors[0] as string)).toBe(1n)
    for (const cursor of [cursors[1], cursors[2], end.cursor]) {
      await expect(resume(cursor as string)).rejects.toThrow('after: is of an event that the log has lost; start without it')
    }
    expect(await resume((await endOf(app, place.workspaceId)).cursor)).toBe(2n)
  })

  it('resumes for whole 30 days with a cursor of a quiet workspace, whose last event was deleted since', async () => {
    await logOf(1)
    const { sent } = await endOf(app, place.workspaceId)
    await logOf(2, newPlace())
    await app.pool.query(`update events set "createdAt" = now() - interval '33 days' where seq <= 2`)
    expect(await pruneEvents.prune(app)).toBe(2)
    const resumeFrom = async (days: number) =>
      await resume(sealCursor(app.sealer, place.workspaceId, { ...sent, at: longAgo(days) }))
    expect(await resumeFrom(29.999)).toBe(1n)
    await expect(resumeFrom(30.5)).rejects.toThrow('after: is older than 30 days')
  })

  it('gets an error when its cursor is older than the oldest event kept, so that no event is missed silently', async () => {
    await logOf(6)
    await app.pool.query(`update events set "createdAt" = now() - interval '33 days' where seq <= 3`)
    await app.pool.query(`update workspaces set "createdAt" = now() - interval '1 year'`)
    const at = longAgo(31)
    expect(await resume(sealed(1n, at))).toBe(1n)
    expect(await pruneEvents.prune(app)).toBe(3)
    expect(await resume(sealed(3n, at))).toBe(3n)
    await expect(resume(sealed(2n, at))).rejects.toThrow('after: is older than 30 days')
    await expect(resume(oldForm(2))).rejects.toThrow('after: is older than 30 days')
  })

  it('resumes where it stopped in a quiet workspace, however old the last event is', async () => {
    await logOf(2)
    await logOf(3, newPlace())
    await app.pool.query(`update events set "createdAt" = now() - interval '33 days' where seq <= 4`)
    const { after, sent, cursor } = await endOf(app, place.workspaceId)
    expect([after, sent.seq]).toEqual([5n, 2n])
    expect(await pruneEvents.prune(app)).toBe(4)
    expect(await resume(cursor)).toBe(2n)
    expect(await endOf(app, place.workspaceId)).toMatchObject({ after: 5n, sent: { seq: 0n } })
  })

  it('sees the same end of the log, whatever happens in other workspaces', async () => {
    await logOf(1)
    const before = await endOf(app, place.workspaceId)
    await logOf(20, newPlace())
    const { sent, cursor } = await endOf(app, place.workspaceId)
    expect(sent).toEqual(before.sent)
    expect(openCursor(app.sealer, place.workspaceId, cursor)?.place).toMatchObject(before.sent)
  })

  describe('with a cursor of the old format', () => {
    const change = (sql: string) => app.pool.query(`update event_sequence set ${sql}`)

    it('resumes after the number in it until 30 days after the change of format, and no longer', async () => {
      await logOf(3)
      await change(`"sealedAfter" = 3, "sealedAt" = now() - interval '29 days'`)
      await logOf(2)
      for (const seq of [0n, 1n, 3n]) expect(await resume(oldForm(seq))).toBe(seq)
      expect(await numberBefore(app, place.workspaceId, oldForm(2), 'before')).toBe(2n)
      await change(`"sealedAt" = now() - interval '30 days 1 minute'`)
      await expect(resume(oldForm(1))).rejects.toThrow('after: is not an event cursor')
      await expect(numberBefore(app, place.workspaceId, oldForm(1), 'before')).rejects.toThrow('is not an event cursor')
    })

    it('resumes exactly at a cursor that a process of the previous version issued during the upgrade', async () => {
      await logOf(5)
      await change(`"sealedAfter" = 2`)
      expect(await resume(oldForm(4))).toBe(4n)
    })

    it('learns nothing by guessing: a number that was never issued stands for the moment of the change of format', async () => {
      await logOf(3)
      await change(`"sealedAfter" = 3, "sealedAt" = now() - interval '2 hours'`)
      await logOf(2, newPlace())
      await logOf(1)
      for (const seq of [4n, 5n, 6n, 7n, 1_000_000n]) {
        expect(await resume(oldForm(seq))).toBe(3n)
        expect(await numberBefore(app, place.workspaceId, oldForm(seq), 'before')).toBe(3n)
      }
    })

    it('learns nothing about how many events were deleted before its workspace was created', async () => {
      await logOf(5, newPlace())
      await app.pool.query(`update events set "createdAt" = now() - interval '33 days'`)
      expect(await pruneEvents.prune(app)).toBe(5)
      await change(`"sealedAfter" = 5`)
      for (const seq of [0n, 3n, 5n]) expect(await resume(oldForm(seq))).toBe(seq)
    })
  })
})

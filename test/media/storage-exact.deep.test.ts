// The bytes of stored files stay exact, on the disk and in the sum, under concurrent uploads and after a crash.
import { beforeAll, describe, expect, it } from 'vitest'
import { sweepMedia } from '../../src/media/service.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openApp } from '../messages/rig.ts'
import { rawForm } from './rig.ts'
import { exceeded, ofFree, openStorage, outcome, proofOf, type Storage, type Surface, surfaces } from './storage-rig.ts'

const mib = 1024 ** 2

let storage: Storage

beforeAll(async () => {
  storage = await openStorage()
})

describe('many concurrent uploads', () => {
  it('fill the quota exactly, on two processes', { timeout: 60_000 }, async () => {
    const who = await storage.someone()
    await storage.fill(who, ofFree - 5 * 100_000)
    const before = storage.filesOnDisk().length
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        storage.upload(who, 100_000, {
          at: storage.gateways[i % 2] as { url: string },
          surface: surfaces[Math.floor(i / 2) % 2] as Surface,
        }),
      ),
    )
    const counts = Object.groupBy(answers, outcome)
    expect([counts['201']?.length, counts[exceeded]?.length]).toEqual([5, 15])
    expect(await storage.mediaBytes(who)).toBe(ofFree)
    expect(storage.filesOnDisk().length - before).toBe(5)
    expect(storage.incoming()).toEqual([])
  })

  it('leave nothing on the disk when they exceed the quota', async () => {
    const who = await storage.someone()
    await storage.fill(who, ofFree - 1)
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(Array.from({ length: 30 }, () => storage.upload(who, 1000)))
      expect(new Set(answers.map(outcome))).toEqual(new Set([exceeded]))
    }
    expect(storage.incoming()).toEqual([])
  })

  it('of one person occupy no more of the disk than the plan stores, and are refused before they are received', {
    timeout: 60_000,
  }, async () => {
    const [who, other] = [await storage.someone(), await storage.someone()]
    const form = rawForm('x'.repeat(60 * mib), 'form-data; name="file"; filename="a"')
    let go = () => {}
    const held = new Promise<void>((resolve) => {
      go = resolve
    })
    const post = (surface: Surface, body: BodyInit) =>
      fetch(new URL(surface, storage.gateways[0].url), {
        method: 'POST',
        headers: { ...proofOf(surface, who), ...form.headers },
        body,
        duplex: 'half',
      } as RequestInit)
    // An upload without a length counts as one of the largest size.
    const stream = new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode(form.body.slice(0, 2 * mib)))
        await held
        controller.enqueue(new TextEncoder().encode(form.body.slice(2 * mib)))
        controller.close()
      },
    })
    const first = post('/api/v1/media', stream)
    await until(() => storage.incoming().length === 1)
    const refused = await post('/api/media', form.body)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await refused.json()).toEqual({
      error: { code: 'API_RATE_LIMIT_EXCEEDED', message: 'At most 100 MiB of uploads at the same time' },
    })
    expect(storage.incoming()).toHaveLength(1)
    expect(outcome(await storage.upload(other, 1000))).toBe('201')
    expect(outcome(await storage.upload(who, 1000))).toBe('201')
    go()
    expect((await first).status).toBe(201)
    // The first upload no longer reserves space, but only the rest of the quota is left for the next.
    expect((await post('/api/v1/media', form.body)).status).toBe(403)
    expect(storage.incoming()).toEqual([])
  })
})

describe('a process that dies', () => {
  it.each(['media.before_put', 'media.after_put'])('at %s leaves a sum that the sweep corrects', async (failpoint) => {
    const doomed = await storage.start({ FAILPOINT: `${failpoint}=kill` })
    const who = await storage.someone()
    await expect(storage.upload(who, 1000, { at: doomed })).rejects.toThrow()
    await doomed.exited
    expect(await storage.mediaBytes(who), 'it may be on the disk').toBe(1000)
    await sql(storage.databaseUrl).query(
      `update media set "createdAt" = "createdAt" - interval '3 hours' where "storedAt" is null`,
    )
    await sweepMedia(await openApp(storage.databaseUrl, { DATA_DIR: storage.dataDir }))
    expect(await storage.mediaBytes(who)).toBe(0)
  })

  it('during a deletion leaves a file that nobody can download, and the sweep frees its bytes', async () => {
    const doomed = await storage.start({ FAILPOINT: 'media.before_remove=kill' })
    const who = await storage.someone()
    const { id, url } = (await storage.upload(who, 1000)).body.data
    const cut = fetch(new URL(`/api/media/${id}`, doomed.url), { method: 'DELETE', headers: proofOf('/api/media', who) })
    await expect(cut).rejects.toThrow()
    await doomed.exited
    expect((await fetch(new URL(new URL(url).pathname, storage.gateways[0].url))).status).toBe(404)
    expect([storage.filesOnDisk().includes(id), await storage.mediaBytes(who)]).toEqual([true, 1000])
    await sweepMedia(await openApp(storage.databaseUrl, { DATA_DIR: storage.dataDir }))
    expect([storage.filesOnDisk().includes(id), await storage.mediaBytes(who)]).toEqual([false, 0])
  })
})

it('keeps the stored sums equal to the totals of the file rows, whatever happened to them', async () => {
  expect(await storage.wrongSums()).toEqual([])
})

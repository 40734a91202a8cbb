// The hub inside one process: what is shared, what is told again, what it survives.
import http from 'node:http'
import { beforeEach, describe, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { newId } from '../../src/core/id.ts'
import { encodeCursor } from '../../src/events/cursor.ts'
import type { Entry } from '../../src/events/entry.ts'
import { type Hub, type LogView, type StateView, startHub } from '../../src/events/fanout.ts'
import { announceChange, subject } from '../../src/events/follow.ts'
import { distinctFrame, hello } from '../../src/events/frames.ts'
import type { LogEvent } from '../../src/events/log.ts'
import type { Outlet } from '../../src/events/outlet.ts'
import { atEnd, cloneDatabase, createAccount, until } from '../kit/kit.ts'
import { emitMany, newPlace, numberOf, openApp, openRelay, type Place, wholeLog } from './rig.ts'
import { openSse, type SseReader } from './sse.ts'

let databaseUrl: string
let app: App
let hub: Hub
let place: Place
let url: string
/** What the next connection does with its outlet. */
let responses: http.ServerResponse[]
let onOutlet: (outlet: Outlet) => Promise<{ stop: () => void }>

beforeEach(async () => {
  databaseUrl = await cloneDatabase()
  app = await openApp(databaseUrl)
  await openRelay(app)
  hub = await startHub(app)
  place = newPlace()
  const { userId } = await createAccount(databaseUrl)
  const { id: keyId } = await app.db.apiKey.findFirstOrThrow({ where: { userId } })
  responses = []
  const server = http.createServer((_, response) => {
    responses.push(response)
    let followed: { stop: () => void } | undefined
    const outlet = hub.makeOutlet({ keyId, beat: () => ':\n\n', farewell: () => '', closed: () => followed?.stop() })
    outlet.attach(response, {}, hello())
    void onOutlet(outlet).then((it) => {
      followed = it
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as { port: number }).port}/`
  atEnd('test', async () => {
    await hub[Symbol.asyncDispose]()
    server.closeAllConnections()
    server.close()
  })
})

interface CountedView extends LogView {
  /** How often each event was rendered, by number. */
  rendered: Map<number, number>
}

function countedView(key: string, options: { fail?: (n: number) => boolean; slowMs?: number } = {}): CountedView {
  const rendered = new Map<number, number>()
  async function render(events: readonly LogEvent[]): Promise<Entry[]> {
    return events.map(({ seq, type, payload }) => {
      const n = numberOf(payload)
      rendered.set(n, (rendered.get(n) ?? 0) + 1)
      if (options.fail?.(n)) throw new Error('out of reach')
      return { seq, cursor: encodeCursor(seq), name: type, body: payload }
    })
  }
  return { key, workspaceId: place.workspaceId, filter: {}, render, rendered }
}

async function follow(view: LogView, cursor?: bigint): Promise<SseReader> {
  const start = cursor ?? BigInt((await wholeLog(databaseUrl)).length)
  let joined = false
  onOutlet = async (outlet) => {
    const followed = await hub.followLog(view, { outlet, frame: distinctFrame, cursor: start })
    joined = true
    return followed
  }
  const reader = await openSse(url)
  await until(() => joined)
  return reader
}

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)
const numbers = (reader: SseReader) => reader.events.map(({ data }) => numberOf(data))

describe('followers of one view', () => {
  it('cost one rendering for each event, however many they are', async () => {
    const view = countedView('shared')
    const readers: SseReader[] = []
    for (let i = 0; i < 20; i++) readers.push(await follow(view))
    const apart = countedView('apart')
    readers.push(await follow(apart))
    await emitMany(app.pool, place, 300)
    await until(() => readers.every((reader) => reader.events.length === 300))
    for (const reader of readers) expect(numbers(reader)).toEqual(upTo(300))
    expect([...view.rendered.values()].every((times) => times === 1)).toBe(true)
    expect([...apart.rendered.values()].every((times) => times === 1)).toBe(true)
  })

  it('that come back to the same place read the log together', async () => {
    await emitMany(app.pool, place, 90)
    await until(async () => (await wholeLog(databaseUrl)).length === 90)
    const view = countedView('shared')
    let joined = 0
    onOutlet = async (outlet) => {
      joined++
      await until(() => joined === 20)
      return await hub.followLog(view, { outlet, frame: distinctFrame, cursor: 0n })
    }
    const readers = await Promise.all(Array.from({ length: 20 }, () => openSse(url)))
    await until(() => readers.every((reader) => reader.events.length === 90))
    for (const reader of readers) expect(numbers(reader)).toEqual(upTo(90))
    expect(Math.max(...view.rendered.values())).toBeLessThan(20)
  })

  it('wait for what cannot be rendered now, while other views go on', async () => {
    let broken = true
    const failing = countedView('failing', { fail: (n) => broken && n >= 5 })
    const stuck = await follow(failing)
    const fine = await follow(countedView('fine'))
    await emitMany(app.pool, place, 5)
    await until(() => stuck.events.length === 5)
    await emitMany(app.pool, place, 5, 5)
    await until(() => fine.events.length === 10)
    expect(stuck.events.length).toBe(5)
    broken = false
    await until(() => stuck.events.length === 10)
    await emitMany(app.pool, place, 2, 10)
    await until(() => stuck.events.length === 12 && fine.events.length === 12)
    expect(numbers(stuck)).toEqual(upTo(12))
  })
})

describe('the hub', () => {
  it('holds at most 256 events or 1 MiB for a reader that stops reading', async () => {
    const [small, large] = [await follow(countedView('small')), await follow(countedView('large'))]
    const held: http.ServerResponse[] = [...responses]
    let most = 0
    const looking = setInterval(() => {
      most = Math.max(most, ...held.map((response) => response.writableLength))
    }, 1)
    atEnd('test', async () => clearInterval(looking))
    small.pause()
    large.pause()
    const live = await follow(countedView('live'))
    for (let n = 0; n < 6_000; n += 100) await emitMany(app.pool, place, 100, n, 'x'.repeat(n < 3_000 ? 50 : 8_000))
    await until(() => live.events.length === 6_000)
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(1024 * 1024 + 1024)
    small.resume()
    large.resume()
    await until(() => small.events.length === 6_000 && large.events.length === 6_000)
    expect(numbers(small)).toEqual(upTo(6_000))
  })

  it('goes on within 15 s when its LISTEN connection is cut or answers nothing', { timeout: 60_000 }, async () => {
    const reader = await follow(countedView('any'))
    // News inside the process would hide what is lost.
    app.signals.removeAllListeners('events')
    const listener = async () => {
      const { rows } = await app.pool.query<{ pid: number }>(
        `select pid from pg_stat_activity
         where application_name = 'gateway-listen' and datname = current_database() and query like 'select last%' and state = 'idle'`,
      )
      return rows[0]?.pid
    }
    const first = await until(listener)
    await app.pool.query('select pg_terminate_backend($1)', [first])
    await emitMany(app.pool, place, 1)
    await until(() => reader.events.length === 1, { timeoutMs: 5_000 })

    const silent = await until(async () => {
      const pid = await listener()
      return pid !== first && pid
    })
    process.kill(silent, 'SIGSTOP')
    try {
      await emitMany(app.pool, place, 1, 1)
      await until(() => reader.events.length === 2, { timeoutMs: 15_000 })
    } finally {
      process.kill(silent, 'SIGCONT')
    }
    expect(numbers(reader)).toEqual([0, 1])
  })

  it('reads nothing for workspaces that nobody follows here, and keeps up all the same', async () => {
    const view = countedView('mine')
    const reader = await follow(view)
    await emitMany(app.pool, newPlace(), 700)
    await emitMany(app.pool, place, 1)
    await until(() => reader.events.length === 1)
    expect(view.rendered.size).toBe(1)
  })
})

describe('a state', () => {
  let value: { count: number; gone?: boolean }
  let readings: number

  function stateView(...subjects: string[]): StateView {
    return {
      key: subjects.join(),
      workspaceId: place.workspaceId,
      subjects,
      render: async () => {
        readings++
        return { body: JSON.stringify(value), ended: value.gone === true }
      },
    }
  }
  async function followState(view: StateView): Promise<SseReader> {
    onOutlet = async (outlet) =>
      hub.followState(view, { outlet, frame: distinctFrame, ended: () => outlet.end('event: complete\ndata:\n\n') })
    const reader = await openSse(url)
    await until(() => reader.events.length > 0)
    return reader
  }
  const values = (reader: SseReader) => reader.events.map(({ data }) => (data ? JSON.parse(data).count : 'end'))

  beforeEach(() => {
    value = { count: 1 }
    readings = 0
  })

  it('is told at once, and again when it was announced to have changed', async () => {
    const thing = subject('bulkJob', newId())
    const readers = [await followState(stateView(thing)), await followState(stateView(thing))]
    expect(readers.map(values)).toEqual([[1], [1]])
    value = { count: 2 }
    await announceChange(app.pool, subject('bulkJob', newId()), thing)
    await until(() => readers.every((reader) => reader.events.length === 2))
    expect(readers.map(values)).toEqual([
      [1, 2],
      [1, 2],
    ])
    expect(readers[0]?.events[0]?.id).toBeUndefined()
  })

  it('is looked at again for each event of its instance, and not told when it is the same', async () => {
    const reader = await followState(stateView(subject('instance', place.instanceId)))
    const before = readings
    await emitMany(app.pool, place, 1)
    await until(() => readings > before)
    value = { count: 3 }
    await emitMany(app.pool, place, 500)
    await until(() => reader.events.length === 2)
    expect(values(reader)).toEqual([1, 3])
    // Five hundred events are no five hundred readings.
    expect(readings - before).toBeLessThan(12)
  })

  it('ends after its last value when it is gone', async () => {
    const thing = subject('instance', place.instanceId)
    const reader = await followState(stateView(thing))
    value = { count: 0, gone: true }
    await announceChange(app.pool, thing)
    await until(() => reader.ended)
    expect(values(reader)).toEqual([1, 0, 'end'])
  })
})

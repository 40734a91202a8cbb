// Live streams under bad conditions: readers that vanish, stall and come back, keys revoked, servers and databases restarted.
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import {
  type Account,
  cloneDatabase,
  connectedInstance,
  createAccount,
  type Gateway,
  ownServer,
  sql,
  startGateway,
  until,
} from '../kit/kit.ts'
import { emitMany, numberOf, type Place } from './rig.ts'
import { openSse, type SseReader } from './sse.ts'

let databaseUrl: string
let gateway: Gateway
let account: Account
let place: Place
let key: Record<string, string>

const env = { RATE_LIMIT_PER_SECOND: '1000', ROLES: 'http,relay' }

async function prepare(options: { url?: string; env?: Record<string, string> } = {}): Promise<void> {
  databaseUrl = options.url ?? (await cloneDatabase())
  gateway = await startGateway({ databaseUrl, env: { ...env, ...options.env } })
  account = await createAccount(databaseUrl)
  place = { workspaceId: account.workspaceId, instanceId: (await connectedInstance(databaseUrl, account)).id }
  key = { 'x-api-key': account.apiKey }
}
const subscription = 'subscription ($after: String) { events(after: $after) { cursor payload } }'

function openPlain(lastEventId?: string): Promise<SseReader> {
  return openSse(new URL('/api/v1/events/stream', gateway.url), {
    headers: { ...key, ...(lastEventId ? { 'last-event-id': lastEventId } : {}) },
  })
}

function openGraphql(after?: string): Promise<SseReader> {
  return openSse(new URL('/graphql', gateway.url), { headers: key, body: { query: subscription, variables: { after } } })
}

function plainNumbers(reader: SseReader): number[] {
  return reader.events.map(({ data }) => numberOf(data))
}

function graphqlNumbers(reader: SseReader): number[] {
  return reader.events.map(({ data }) => Number(JSON.parse(data ?? '').data.events.payload.n))
}

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

/** Emits `count` events in transactions of a few, while the readers do what they do. */
async function emitSteadily(count: number, first = 0, everyMs = 4): Promise<void> {
  for (let n = first; n < first + count; ) {
    const size = Math.min(1 + Math.floor(Math.random() * 5), first + count - n)
    await emitMany(sql(databaseUrl), place, size, n)
    n += size
    await pause(everyMs)
  }
}

/** Where a stream that is opened now begins. */
async function present(): Promise<string> {
  const reader = await openPlain()
  const id = await until(() => reader.others.find((block) => block.id)?.id)
  reader.close()
  return id
}

/** Reads by a stream that is cut at random and opened again after the last event seen, until all have come. */
async function readInPieces(
  count: number,
  beginning: string,
  open: (after: string) => Promise<SseReader>,
  numbers: (reader: SseReader) => number[],
): Promise<{ seen: number[]; cuts: number }> {
  const seen: number[] = []
  let cuts = 0
  let after = beginning
  while (seen.length < count) {
    const reader = await open(after)
    expect(reader.status).toBe(200)
    const patience = Math.random() * 120
    const began = Date.now()
    await until(() => Date.now() - began > patience || seen.length + reader.events.length >= count, { everyMs: 2 })
    reader.close()
    // What arrives after this look is asked for again.
    const taken = reader.events.splice(0)
    seen.push(...numbers({ ...reader, events: taken }))
    after = taken.at(-1)?.id ?? after
    cuts++
  }
  return { seen, cuts }
}

describe('a reader that is cut at random', () => {
  it('resumes by Last-Event-ID and by `after` without a gap or a repeat', async () => {
    await prepare()
    const count = 1_500
    const steady = await openPlain()
    const beginning = await present()
    const readers = [
      readInPieces(count, beginning, openPlain, plainNumbers),
      readInPieces(count, beginning, openPlain, plainNumbers),
      readInPieces(count, beginning, openGraphql, graphqlNumbers),
      readInPieces(count, beginning, openGraphql, graphqlNumbers),
    ]
    await emitSteadily(count)
    const results = await Promise.all(readers)
    for (const { seen } of results) expect(seen).toEqual(upTo(count))
    expect(results.reduce((sum, { cuts }) => sum + cuts, 0)).toBeGreaterThan(40)
    await until(() => steady.events.length === count)
    expect(plainNumbers(steady)).toEqual(upTo(count))
  })

  it('joins the live ones while events keep coming, and misses none of them', async () => {
    await prepare()
    const beginning = await present()
    await emitMany(sql(databaseUrl), place, 700)
    const writing = emitSteadily(1_000, 700, 1)
    const late: SseReader[] = []
    for (let i = 0; i < 12; i++) {
      late.push(await (i % 2 === 0 ? openPlain(beginning) : openGraphql(beginning)))
      await pause(30)
    }
    await writing
    await until(() => late.every((reader) => reader.events.length >= 1_700))
    for (const [i, reader] of late.entries()) {
      const numbers = i % 2 === 0 ? plainNumbers(reader) : graphqlNumbers(reader)
      expect(numbers).toEqual(upTo(1_700))
    }
  })
})

describe('a reader that stops reading', () => {
  it('costs bounded memory, is cut within 20 s, delays nobody, and resumes by cursor', { timeout: 60_000 }, async () => {
    // A heap without slack shows what is held, and not what is yet to be collected.
    await prepare({ env: { NODE_OPTIONS: '--max-old-space-size=128 --max-semi-space-size=4' } })
    const rounds = 1_000
    const healthy = [await openPlain(), await openGraphql()]
    let emitted = 0
    /** 12 MB of events, which the healthy ones get at once. */
    const flood = async () => {
      for (const end = emitted + rounds; emitted < end; emitted += 50) {
        await emitMany(sql(databaseUrl), place, 50, emitted, 'x'.repeat(12_000))
      }
      await until(() => healthy.every((reader) => reader.events.length === emitted))
    }
    await flood()
    await flood()
    const stalled = [await openPlain(), await openGraphql(), await openPlain()]
    const beginning = emitted
    await emitMany(sql(databaseUrl), place, 1, emitted++)
    await until(() => stalled.every((reader) => reader.events.length === 1))
    for (const reader of stalled) reader.pause()

    // Held for the stalled ones, this would be 120 MB, once as text of each door.
    const before = await memoryBytes()
    for (let i = 0; i < 5; i++) await flood()
    expect((await memoryBytes()) - before).toBeLessThan(20 * 1024 * 1024)

    const lags: number[] = []
    await until(
      async () => {
        const at = Date.now()
        const seen = healthy[0]?.events.length ?? 0
        await emitMany(sql(databaseUrl), place, 1, emitted++)
        await until(() => healthy.every((reader) => reader.events.length > seen), { everyMs: 2 })
        lags.push(Date.now() - at)
        return (await metric('gateway_stalled_streams_total')) === 3
      },
      { timeoutMs: 20_000, everyMs: 100 },
    )
    expect(lags.sort((a, b) => a - b)[Math.floor(lags.length * 0.9)]).toBeLessThan(500)
    expect(await metric('gateway_open_streams')).toBe(2)

    // More than ten seconds have passed, so that each was told that its stream is alive, and where it stands.
    for (const reader of healthy) expect(reader.others.filter(({ id, retry }) => id && !retry).length).toBeGreaterThan(0)

    for (const reader of stalled) reader.resume()
    await until(() => stalled.every((reader) => reader.ended))
    const [plain] = stalled as [SseReader]
    const again = await openPlain(plain.events.at(-1)?.id)
    await until(() => plain.events.length + again.events.length === emitted - beginning)
    expect([...plainNumbers(plain), ...plainNumbers(again)]).toEqual(upTo(emitted).slice(beginning))
  })

  it('that is only slow gets everything in the end', { timeout: 60_000 }, async () => {
    await prepare()
    const slow = await openGraphql()
    const padding = 'x'.repeat(4_000)
    let paused = true
    const flicker = setInterval(() => {
      paused = !paused
      if (paused) slow.pause()
      else slow.resume()
    }, 15)
    for (let n = 0; n < 3_000; n += 60) await emitMany(sql(databaseUrl), place, 60, n, padding)
    await until(() => slow.events.length === 3_000, { timeoutMs: 30_000 })
    clearInterval(flicker)
    expect(graphqlNumbers(slow)).toEqual(upTo(3_000))
  })
})

describe('a revoked key', () => {
  it('has its streams ended within 5 s on every door, with a word that clients understand', async () => {
    await prepare()
    const plain = await openPlain()
    const distinct = await openGraphql()
    const url = new URL('/graphql/stream', gateway.url)
    const token = await (await fetch(url, { method: 'PUT', headers: key })).text()
    url.searchParams.set('token', token)
    const single = await openSse(url)
    const operation = { query: subscription, extensions: { operationId: 'a' } }
    const accepted = await fetch(url, {
      method: 'POST',
      headers: { ...key, 'content-type': 'application/json' },
      body: JSON.stringify(operation),
    })
    expect(accepted.status).toBe(202)
    const other = await createAccount(databaseUrl)
    const bystander = await openSse(new URL('/api/v1/events/stream', gateway.url), { headers: { 'x-api-key': other.apiKey } })

    await sql(databaseUrl).query(`update api_keys set "revokedAt" = now() where "userId" = $1`, [account.userId])
    await until(() => plain.ended && distinct.ended && single.ended, { timeoutMs: 5_000 })
    expect(bystander.ended).toBe(false)
    const error = { message: 'Missing or invalid API key', extensions: { code: 'UNAUTHORIZED' } }
    expect(plain.events).toMatchObject([{ event: 'end' }])
    expect(JSON.parse(plain.events[0]?.data ?? '')).toEqual({ error: { code: 'UNAUTHORIZED', message: error.message } })
    expect(distinct.events.map(({ event }) => event)).toEqual(['next', 'complete'])
    expect(JSON.parse(distinct.events[0]?.data ?? '')).toEqual({ errors: [error] })
    expect(single.events.map(({ event }) => event)).toEqual(['next', 'complete'])
    expect(JSON.parse(single.events[0]?.data ?? '')).toEqual({ id: 'a', payload: { errors: [error] } })
    expect((await openPlain()).status).toBe(401)
    await until(async () => (await metric('gateway_open_streams')) === 1)
  })
})

describe('a server that stops', () => {
  it('ends streams with a hint when to come back, and a reader who does misses nothing', async () => {
    await prepare()
    const plain = await openPlain()
    const graphql = await openGraphql()
    await emitMany(sql(databaseUrl), place, 3)
    await until(() => plain.events.length === 3 && graphql.events.length === 3)
    const began = Date.now()
    expect(await gateway.stop()).toEqual({ code: 0, signal: null })
    expect(Date.now() - began).toBeLessThan(10_000)
    await until(() => plain.ended && graphql.ended)
    for (const reader of [plain, graphql]) expect(Number(reader.others.at(-1)?.retry)).toBeGreaterThanOrEqual(1_000)
    expect(graphql.events.at(-1)).toMatchObject({ event: 'complete', data: '' })

    await emitMany(sql(databaseUrl), place, 3, 3)
    gateway = await startGateway({ databaseUrl, env })
    const again = [await openPlain(plain.events[2]?.id), await openGraphql(graphql.events[2]?.id)] as const
    await until(() => again.every((reader) => reader.events.length === 3))
    expect(plainNumbers(again[0])).toEqual([3, 4, 5])
    expect(graphqlNumbers(again[1])).toEqual([3, 4, 5])
  })
})

describe('a database that crashes', () => {
  it('leaves streams open, and they go on without a gap or a repeat', { timeout: 60_000 }, async () => {
    const server = await ownServer()
    await prepare({ url: server.url })
    const readers = [await openPlain(), await openGraphql()] as const
    for (let round = 0; round < 2; round++) {
      await emitMany(sql(databaseUrl), place, 30, round * 30)
      await server.stop('immediate')
      await server.start()
    }
    await until(() => emitMany(sql(databaseUrl), place, 10, 60).then(() => true))
    await until(() => readers.every((reader) => reader.events.length >= 70), { timeoutMs: 15_000 })
    expect(plainNumbers(readers[0])).toEqual(upTo(70))
    expect(graphqlNumbers(readers[1])).toEqual(upTo(70))
    expect(readers.some((reader) => reader.ended)).toBe(false)
  })
})

async function metric(name: string): Promise<number> {
  const text = await (await fetch(new URL('/metrics', gateway.url))).text()
  return Number(text.match(new RegExp(`^${name} (\\S+)`, 'm'))?.[1])
}

async function memoryBytes(): Promise<number> {
  return await metric('process_resident_memory_bytes')
}

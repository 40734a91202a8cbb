// Readers that reconnect, and servers and databases that restart: no event is skipped or repeated.
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { cloneDatabase, ownServer } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { allowed } from '../kit/measured.ts'
import { until } from '../kit/until.ts'
import { graphqlNumbers, happen, type LiveRig, liveEnv, openGraphql, openLiveRig, openPlain, reopen } from './live-rig.ts'
import { plainNumbers, upTo } from './rig.ts'
import type { SseReader } from './sse.ts'

/** Emits events in transactions of one to five, with a pause after each, while the readers run. */
async function happenSteadily(live: LiveRig, count: number, first = 0, everyMs = 4): Promise<void> {
  for (let n = first; n < first + count; ) {
    const size = Math.min(1 + Math.floor(Math.random() * 5), first + count - n)
    await happen(live, size, n)
    n += size
    await pause(everyMs)
  }
}

/** Returns the cursor at which a stream that is opened now begins. */
async function present(live: LiveRig): Promise<string> {
  const reader = await openPlain(live)
  const id = await until(() => reader.others.find((block) => block.id)?.id)
  reader.close()
  return id
}

/** Reads by a stream that is cut at random times and opened again after the last event seen, until all events have come. */
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
    // Events that arrive after this are requested again by the next stream.
    const taken = reader.events.splice(0)
    seen.push(...numbers({ ...reader, events: taken }))
    after = taken.at(-1)?.id ?? after
    cuts++
  }
  return { seen, cuts }
}

describe('a reader', () => {
  it('resumes by Last-Event-ID and by `after` without a gap or a repeat when it is cut at random', async () => {
    const live = await openLiveRig()
    const count = 1_500
    const steady = await openPlain(live)
    const beginning = await present(live)
    const plain = () => readInPieces(count, beginning, (after) => openPlain(live, after), plainNumbers)
    const graphql = () => readInPieces(count, beginning, (after) => openGraphql(live, after), graphqlNumbers)
    const readers = [plain(), plain(), graphql(), graphql()]
    await happenSteadily(live, count)
    const results = await Promise.all(readers)
    for (const { seen } of results) expect(seen).toEqual(upTo(count))
    expect(results.reduce((sum, { cuts }) => sum + cuts, 0)).toBeGreaterThan(40)
    await until(() => steady.events.length === count)
    expect(plainNumbers(steady)).toEqual(upTo(count))
  })

  it('misses no event when it joins the live readers while events keep coming', async () => {
    const live = await openLiveRig()
    const beginning = await present(live)
    await happen(live, 700)
    const writing = happenSteadily(live, 1_000, 700, 1)
    const late: SseReader[] = []
    for (let i = 0; i < 12; i++) {
      late.push(await (i % 2 === 0 ? openPlain : openGraphql)(live, beginning))
      await pause(30)
    }
    await writing
    await until(() => late.every((reader) => reader.events.length >= 1_700))
    for (const [i, reader] of late.entries()) {
      expect((i % 2 === 0 ? plainNumbers : graphqlNumbers)(reader)).toEqual(upTo(1_700))
    }
  })
})

describe('a server that stops', () => {
  it('ends streams with a retry hint, and a reader that comes back misses nothing', async () => {
    const databaseUrl = await cloneDatabase()
    const gateway = await startGateway({ databaseUrl, env: liveEnv })
    const live = await openLiveRig({ databaseUrl, gateway })
    const plain = await openPlain(live)
    const graphql = await openGraphql(live)
    await happen(live, 3)
    await until(() => plain.events.length === 3 && graphql.events.length === 3)
    const began = Date.now()
    expect(await gateway.stop()).toEqual({ code: 0, signal: null })
    expect(Date.now() - began).toBeLessThan(allowed(10_000))
    await until(() => plain.ended && graphql.ended)
    for (const reader of [plain, graphql]) expect(Number(reader.others.at(-1)?.retry)).toBeGreaterThanOrEqual(1_000)
    expect(graphql.events.at(-1)).toMatchObject({ event: 'complete', data: '' })

    await happen(live, 3, 3)
    await reopen(live)
    const again = [await openPlain(live, plain.events[2]?.id), await openGraphql(live, graphql.events[2]?.id)] as const
    await until(() => again.every((reader) => reader.events.length === 3))
    expect(plainNumbers(again[0])).toEqual([3, 4, 5])
    expect(graphqlNumbers(again[1])).toEqual([3, 4, 5])
  })
})

describe('a database that crashes', () => {
  it('leaves streams open, and they go on without a gap or a repeat', async () => {
    const server = await ownServer()
    const live = await openLiveRig({ databaseUrl: server.url })
    const readers = [await openPlain(live), await openGraphql(live)] as const
    for (let round = 0; round < 2; round++) {
      await happen(live, 30, round * 30)
      await server.stop('immediate')
      await server.start()
    }
    await until(() => happen(live, 10, 60).then(() => true))
    await until(() => readers.every((reader) => reader.events.length >= 70))
    expect(plainNumbers(readers[0])).toEqual(upTo(70))
    expect(graphqlNumbers(readers[1])).toEqual(upTo(70))
    expect(readers.some((reader) => reader.ended)).toBe(false)
  })
})

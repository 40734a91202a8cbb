// One view of the log serves all its subscribers, in any order of joins, pauses, failures and rounds.
import fc from 'fast-check'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import type { BoundedWriter } from '../../src/events/live/bounded-writer.ts'
import { LogTopic, type Subscriber } from '../../src/events/live/log-topic.ts'
import { markedOf } from '../../src/events/log/cursor.ts'
import type { LogEvent } from '../../src/events/log/log.ts'
import { until } from '../kit/until.ts'

/** A writer that accepts events, except while it is full. */
function stubOutlet() {
  let full = false
  let waiting: (() => void)[] = []
  const got: number[] = []
  const writer = {
    closed: false,
    fits: () => !full,
    write: (bytes: Buffer) => got.push(...bytes.toString().split(',').filter(Boolean).map(Number)),
    drained: () => (full ? new Promise<void>((resolve) => waiting.push(resolve)) : Promise.resolve()),
  }
  return {
    writer: writer as unknown as BoundedWriter,
    got,
    setFull(value: boolean) {
      full = value
      if (full) return
      for (const resolve of waiting.splice(0)) resolve()
    },
    close() {
      writer.closed = true
      for (const resolve of waiting.splice(0)) resolve()
      waiting = []
    },
  }
}

/** A log in memory: every third event is of a type that the view does not follow. */
function memoryLog() {
  let numbered = 0
  let head = 0
  let failNext = false
  const eventAt = (seq: number) =>
    ({ seq: BigInt(seq), id: newId(), type: seq % 3 === 0 ? 'message.read' : 'message.sent' }) as LogEvent
  const matching = (after: number, upTo: number) =>
    Array.from({ length: Math.max(0, upTo - after) }, (_, i) => after + 1 + i).filter((seq) => seq % 3 !== 0)
  const topic = new LogTopic({
    workspaceId: 'w',
    filter: { types: ['message.sent'] },
    render: async (events) => {
      await null
      if (failNext) {
        failNext = false
        throw new Error('not now')
      }
      // Sometimes only the first of the events given fit.
      const some = events.slice(0, 1 + (Number(events[0]?.seq) % 40))
      return some.map((event) => ({
        ...{ ...markedOf(event), cursor: String(event.seq) },
        ...{ name: 'message.sent', body: 'x'.repeat(Number(event.seq) % 50) },
      }))
    },
    read: async (after, upTo, limit) => {
      await null
      // One read looks at a part of the log only, and may find nothing in it.
      const last = Math.min(Number(upTo), Number(after) + 120)
      const found = matching(Number(after), last)
      const events = found.slice(0, limit).map(eventAt)
      const reached = found.length > limit ? (events.at(-1)?.seq ?? null) : BigInt(last)
      return { events, reached: reached === upTo ? null : reached }
    },
    head: () => BigInt(head),
    log: pino({ level: 'silent' }),
  })
  return {
    topic,
    matching,
    numbered: () => numbered,
    number: (count: number) => {
      numbered += count
    },
    /** One round of the hub: at most `count` events. The head moves only after all of them were handed out. */
    async advance(count: number, fails: boolean) {
      const reached = Math.min(head + count, numbered)
      failNext = fails
      const events = Array.from({ length: reached - head }, (_, i) => eventAt(head + 1 + i))
      await topic.advance(events, BigInt(reached))
      failNext = false
      head = reached
    },
  }
}

const happening = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('number' as const), count: fc.integer({ min: 1, max: 400 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      count: fc.integer({ min: 1, max: 256 }),
      fails: fc.boolean(),
      meanwhile: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('join' as const),
      behind: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 900 })),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('fill' as const), who: fc.nat(5), full: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rest' as const) }) },
)

it('hands each subscriber all events that match after its cursor, once and in order, whatever happens', async () => {
  const property = fc.asyncProperty(fc.array(happening, { minLength: 5, maxLength: 40 }), async (happenings) => {
    const log = memoryLog()
    const subscribers: (ReturnType<typeof stubOutlet> & { start: number; subscriber: Subscriber })[] = []
    let round: Promise<void> = Promise.resolve()
    for (const it of happenings) {
      if (it.do === 'number') log.number(it.count)
      if (it.do === 'rest') await new Promise(setImmediate)
      if (it.do === 'fill') subscribers[it.who]?.setFull(it.full)
      if (it.do === 'advance') {
        await round
        round = log.advance(it.count, it.fails)
        // The next happenings may run while the round is under way.
        if (!it.meanwhile) await round
      }
      if (it.do === 'join') {
        const start = Math.max(0, log.numbered() - it.behind)
        const stub = stubOutlet()
        const subscriber = {
          writer: stub.writer,
          frame: ({ seq }: { seq: bigint }) => `${seq},`,
          cursor: BigInt(start),
          sent: { seq: BigInt(start), mark: undefined },
        }
        subscribers.push({ ...stub, start, subscriber })
        log.topic.add(subscriber)
      }
    }
    await round
    for (const { setFull } of subscribers) setFull(false)
    await log.advance(log.numbered(), false)
    for (const { got, start } of subscribers) {
      const expected = log.matching(start, log.numbered())
      await until(() => got.length >= expected.length, { everyMs: 1 })
      expect(got).toEqual(expected)
    }
    for (const { subscriber, close } of subscribers) {
      log.topic.remove(subscriber)
      close()
    }
    expect(log.topic.empty).toBe(true)
  })
  await fc.assert(property, { numRuns: 400 })
})

it('holds up the others of its hub for less once it was late, however often it catches up in between', async () => {
  let rendering = Promise.withResolvers<void>()
  let head = 0
  const eventAt = (seq: number) => ({ seq: BigInt(seq), id: newId(), type: 'message.sent' }) as LogEvent
  const topic = new LogTopic({
    workspaceId: 'w',
    filter: {},
    render: async (events) => {
      await rendering.promise
      return events.map((event) => ({ ...markedOf(event), cursor: null, name: event.type, body: '' }))
    },
    read: async (after, upTo) => ({
      events: Array.from({ length: Number(upTo - after) }, (_, i) => eventAt(Number(after) + 1 + i)),
      reached: null,
    }),
    head: () => BigInt(head),
    log: pino({ level: 'silent' }),
  })
  const { writer, got } = stubOutlet()
  const subscriber: Subscriber = { writer, frame: ({ seq }) => `${seq},`, cursor: 0n, sent: { seq: 0n, mark: undefined } }
  topic.add(subscriber)
  const lateness: number[] = []
  for (const seq of [1, 2, 3, 4]) {
    await until(() => topic.reachedBy(subscriber))
    rendering = Promise.withResolvers()
    const begin = performance.now()
    await topic.advance([eventAt(seq)], BigInt(seq))
    lateness.push(performance.now() - begin)
    head = seq
    rendering.resolve()
    await until(() => got.length === seq)
  }
  const [first = 0, ...others] = lateness
  // A busy machine may hold up some of them.
  expect(Math.min(...others)).toBeLessThan(first / 2)
})

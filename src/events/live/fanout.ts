// The hub of live streams in this process: reads each batch of events once and passes it to every topic with subscribers here (fan-out).
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { fail } from '../../core/errors.ts'
import { createShare } from '../../core/share.ts'
import type { Marked } from '../log/cursor.ts'
import { lastNumber, readAfter, readOf } from '../log/log.sql.ts'
import type { EventFilter, LogEvent } from '../log/log.ts'
import type { Entry } from './entry.ts'
import { startListening } from './listen.ts'
import { LogTopic, type Subscriber } from './log-topic.ts'
import type { StateSubscriber } from './state-topic.ts'
import { createStateTopics, type StateView } from './state-topics.ts'
import { createSlots, type TakeSlot } from './stream-slots.ts'
import { startWriters, type Writers } from './writers.ts'

export interface LogView {
  /** Equal for views that may share rendered output: those with the same audience and selection. */
  key: string
  workspaceId: string
  filter: EventFilter
  /** Follows the contract of `render` in the options of {@link LogTopic}. */
  render: (events: readonly LogEvent[]) => Promise<Entry[]>
}

/** One subscription on one writer. */
export interface Followed {
  /** The last workspace event up to which the subscriber is complete; undefined while it is behind, and always for a state. */
  reached: () => Marked | undefined
  stop: () => void
}

export interface Hub extends AsyncDisposable {
  /** @throws API_RATE_LIMIT_EXCEEDED when the caller has too many streams, SERVICE_UNAVAILABLE when the hub is closing. */
  takeSlot: TakeSlot
  /** Creates a writer that gets heartbeats. It is ended when its credential is revoked, and when the hub is disposed of. */
  makeWriter: Writers['make']
  followLog: (view: LogView, subscriber: Subscriber) => Promise<Followed>
  followState: (view: StateView, subscriber: StateSubscriber) => Followed
}

const pageSize = 256
const retryMs = 500
/**
 * Bounds the concurrent reads of the log for the streams of one workspace: fifty streams that resumed far back took all connections of the
 * pool. Rendering is bounded by the payer of its budget.
 */
const logReads = createShare({
  perCaller: 2,
  mostWaiting: Number.POSITIVE_INFINITY,
  waitMs: 600_000,
})

/** `onCall` takes what other processes send to this one. */
export async function startHub(app: App, onCall: (payload: string) => void): Promise<Hub> {
  const logTopics = new Map<string, LogTopic>()
  const stateTopics = createStateTopics(app.log)
  const takeSlot = createSlots(app)
  let closing = false
  /** Events up to this number have been passed to every topic. The id of the last one is null if it is not known. */
  let head = await lastNumber(app.pool)
  let headId: string | null = null
  let target = head
  /** The round in progress. Topics are added between rounds only, so that each gets every event above the head at which it starts. */
  let round: Promise<void> | undefined
  let running = false

  const writers = startWriters(app)
  const listening = startListening(app, {
    onLast: reach,
    poll,
    onChange: stateTopics.invalidate,
    onCall,
    onStart: stateTopics.invalidateAll,
  })
  app.signals.on('events', reach)

  function reach(last: bigint): void {
    if (last <= target) return
    target = last
    if (!running) void run()
  }

  async function poll(sql: Sql): Promise<void> {
    const known = target
    const last = await lastNumber(sql)
    if (last >= known) return reach(last)
    while (round) await round
    target = last
    beginAgain(last, null)
  }

  /** The log has lost events and gives their numbers to others. A reader who comes back with the cursor of one learns it. */
  function beginAgain(last: bigint, id: string | null): void {
    app.log.warn({ last }, 'the event log has lost events; streams begin again')
    head = last
    headId = id
    writers.leaveAll()
  }

  async function run(): Promise<void> {
    running = true
    while (head < target && !closing) {
      round = advance()
      await round
      round = undefined
      // Lets code that waits for the end of the round run first.
      await null
    }
    running = false
  }

  /** Never rejects: after a failure, the next round tries again. */
  async function advance(): Promise<void> {
    const topics = [...logTopics.values()]
    const workspaces = new Set([...topics.map(({ workspaceId }) => workspaceId), ...stateTopics.workspaces()])
    const upTo = target
    if (workspaces.size === 0) {
      head = upTo
      headId = null
      return
    }
    try {
      const { events, idAfter, idUpTo } = await readOf(app.pool, [...workspaces], { after: head, upTo, limit: pageSize })
      if (headId && idAfter && headId !== idAfter) return beginAgain(upTo, idUpTo)
      const reached = events.length < pageSize ? { seq: upTo, id: idUpTo } : (events.at(-1) as LogEvent)
      stateTopics.invalidateFor(events)
      const byWorkspace = Map.groupBy(events, (event) => event.workspaceId)
      await Promise.all(topics.map((topic) => topic.advance(byWorkspace.get(topic.workspaceId) ?? [], reached.seq)))
      head = reached.seq
      headId = reached.id
    } catch (error) {
      app.log.warn({ err: (error as Error).message }, 'events could not be read for live streams; trying again')
      await pause(retryMs)
    }
  }

  return {
    takeSlot(owner, slot) {
      if (closing) fail('SERVICE_UNAVAILABLE')
      return takeSlot(owner, slot)
    },

    makeWriter: writers.make,

    async followLog({ key, workspaceId, filter, render }, subscriber) {
      while (round) await round
      let topic = logTopics.get(key)
      if (!topic) {
        const read = (after: bigint, upTo: bigint, limit: number) =>
          logReads.during(workspaceId, 1, () => readAfter(app.pool, workspaceId, filter, { after, upTo, limit }))
        topic = new LogTopic({ workspaceId, filter, render, read, head: () => head, log: app.log })
        logTopics.set(key, topic)
      }
      const followed = topic
      followed.add(subscriber)
      return {
        reached: () => followed.reachedBy(subscriber),
        stop() {
          followed.remove(subscriber)
          if (followed.empty && logTopics.get(key) === followed) logTopics.delete(key)
        },
      }
    },

    followState: (view, subscriber) => ({ reached: () => undefined, stop: stateTopics.follow(view, subscriber) }),

    async [Symbol.asyncDispose]() {
      closing = true
      app.signals.off('events', reach)
      await Promise.all([writers[Symbol.asyncDispose](), listening[Symbol.asyncDispose](), round])
    },
  }
}

// The relay: assigns numbers to committed events. One process of the installation does it at a time (leader election by advisory lock).
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { connectDedicated, type Dedicated } from '../../core/database/dedicated.ts'
import { createAlarm } from './alarm.ts'
import { leadership } from './announce.ts'
import { lastNumber } from './log.sql.ts'
import type { LogEvent } from './log.ts'
import { createOutboxStart, type OutboxStart } from './outbox-start.ts'
import { createRoom } from './partitions.ts'
import { begin, hasWork, limitSession, listenToOthers, notifyAndCommit, numberOldest, rollback, tryLead } from './relay.sql.ts'

/** Receives every event exactly once, in the transaction that numbers it. */
export type RelaySink = (tx: Sql, events: readonly LogEvent[]) => Promise<void>

const batchSize = 500
/** How often the leader reads the outbox without a notification. */
const pollMs = 2_000
const candidacyMs = 500
const maxBackoffMs = 2_000

/** Runs until disposed: acquires the leadership, numbers new events, and starts over when the connection is lost. */
export async function startRelay(app: App, sinks: readonly RelaySink[]): Promise<AsyncDisposable> {
  const alarm = createAlarm()
  const stopping = new AbortController()
  app.signals.on('outbox', alarm.ring)
  const running = run()

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await using connection = await connectDedicated(app, 'gateway-relay')
        connection.lost.addEventListener('abort', alarm.ring)
        await limitSession(connection.client)
        if (!(await takeLead(connection))) continue
        leadership(app).held = true
        connection.client.on('notification', alarm.ring)
        await listenToOthers(connection.client)
        await lead(connection)
      } catch (error) {
        app.log.warn({ err: (error as Error).message }, 'the relay lost its connection')
        await rest(candidacyMs)
      } finally {
        leadership(app).held = false
      }
    }
  }

  /** Returns false when this process stops before it becomes leader. */
  async function takeLead({ client }: Dedicated): Promise<boolean> {
    while (!stopping.signal.aborted) {
      if (await tryLead(client)) return true
      await rest(candidacyMs)
    }
    return false
  }

  async function lead({ client, lost }: Dedicated): Promise<void> {
    app.log.debug('this process numbers events')
    const room = createRoom(client, app.log)
    const start = createOutboxStart(client)
    let last = await lastNumber(client)
    let failures = 0
    let rung = true
    while (!stopping.signal.aborted) {
      if (lost.aborted) throw new Error('connection lost')
      try {
        await room.ensure(last)
        const events: readonly LogEvent[] = rung || (await hasWork(client, start.after)) ? await numberBatch(client, start) : []
        last = events.at(-1)?.seq ?? last
        failures = 0
        await start.looked()
        rung = events.length === batchSize || (await alarm.wait(pollMs))
      } catch (error) {
        // If the rollback fails too, the connection is the cause and not a sink.
        await rollback(client)
        app.metrics.relayFailures.inc()
        app.log.error({ err: error, failures: ++failures }, 'events were not numbered; trying again')
        await rest(Math.min(100 * 2 ** failures, maxBackoffMs))
        rung = true
      }
    }
  }

  /** Numbers the oldest events of the outbox and runs the sinks, in one transaction. Returns these events. */
  async function numberBatch(client: Dedicated['client'], start: OutboxStart): Promise<readonly LogEvent[]> {
    await begin(client)
    const { events, lags } = await numberOldest(client, start.after, batchSize)
    const last = events.at(-1)?.seq
    if (last === undefined) {
      await rollback(client)
      return []
    }
    for (const sink of sinks) await sink(client, events)
    await notifyAndCommit(client, last)
    app.signals.emit('events', last)
    for (const lag of lags) app.metrics.relayLagSeconds.observe(lag)
    return events
  }

  async function rest(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: stopping.signal }).catch(() => {})
  }

  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      app.signals.off('outbox', alarm.ring)
      alarm.ring()
      await running
    },
  }
}

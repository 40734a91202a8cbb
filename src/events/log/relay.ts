// The relay: assigns numbers to committed events. One process of the cluster does it at a time (leader election by advisory lock).
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { connectDedicated, type Dedicated } from '../live/dedicated.ts'
import { createAlarm } from './alarm.ts'
import { type EventRow, eventColumns, eventOf, type LogEvent } from './log.ts'

/** Receives every event exactly once, in the transaction that numbers it. */
export type RelaySink = (tx: Sql, events: readonly LogEvent[]) => Promise<void>

const batchSize = 500
const pollMs = 100
const candidacyMs = 500
const maxBackoffMs = 2_000
/** Key of the advisory lock. Any number works if every process uses the same one. */
const lockKey = 4_617_230_010

/**
 * Session settings that end the leadership of a frozen or disconnected process within 4 s, so that another process takes over.
 * Leadership only saves work: the row lock on event_sequence keeps the numbers correct, whichever process assigns them. The tables are
 * empty at one moment and large at the next. Sequential scans are disabled, so that no cached plan from an empty table scans a large
 * one.
 */
const sessionRules = `set enable_seqscan = off; set idle_session_timeout = 4000; set idle_in_transaction_session_timeout = 4000; set lock_timeout = 4000;
  set tcp_keepalives_idle = 2; set tcp_keepalives_interval = 1; set tcp_keepalives_count = 2`

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
        await connection.client.query(sessionRules)
        if (await takeLead(connection)) await lead(connection)
      } catch (error) {
        app.log.warn({ err: (error as Error).message }, 'the relay lost its connection')
        await rest(candidacyMs)
      }
    }
  }

  /** Returns false when this process stops before it becomes leader. */
  async function takeLead({ client }: Dedicated): Promise<boolean> {
    while (!stopping.signal.aborted) {
      const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [lockKey])
      if (rows[0]?.mine) return true
      await rest(candidacyMs)
    }
    return false
  }

  async function lead({ client, lost }: Dedicated): Promise<void> {
    app.log.debug('this process numbers events')
    let failures = 0
    let rung = true
    while (!stopping.signal.aborted) {
      if (lost.aborted) throw new Error('connection lost')
      try {
        const count: number = rung || (await hasWork(client)) ? await numberBatch(client) : 0
        failures = 0
        rung = count === batchSize || (await alarm.wait(pollMs))
      } catch (error) {
        // If the rollback fails too, the connection is the cause and not a sink.
        await client.query('rollback')
        app.metrics.relayFailures.inc()
        app.log.error({ err: error, failures: ++failures }, 'events were not numbered; trying again')
        await rest(Math.min(100 * 2 ** failures, maxBackoffMs))
        rung = true
      }
    }
  }

  /** Numbers the oldest events of the outbox and runs the sinks, in one transaction. Returns the number of events. */
  async function numberBatch(client: Dedicated['client']): Promise<number> {
    await client.query('begin')
    const { rows } = await client.query<EventRow & { lag: string }>({
      name: 'events.number',
      text: numberSql,
      values: [batchSize],
    })
    const events = rows.map(({ lag, ...row }) => eventOf(row)).sort((a, b) => (a.seq < b.seq ? -1 : 1))
    const last = events.at(-1)?.seq
    if (last === undefined) {
      await client.query('rollback')
      return 0
    }
    for (const sink of sinks) await sink(client, events)
    await client.query(`select pg_notify('gateway_events', '${last}'); commit`)
    app.signals.emit('events', last)
    for (const { lag } of rows) app.metrics.relayLagSeconds.observe(Number(lag))
    return events.length
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

async function hasWork(sql: Sql): Promise<boolean> {
  const { rows } = await sql.query<{ work: boolean }>({ name: 'events.work', text: 'select exists (select from outbox) as work' })
  return rows[0]?.work ?? false
}

/**
 * Only committed rows are visible, so a transaction that commits late gets a late number. `position` orders the events of one
 * transaction.
 */
const numberSql = `
  with batch as (
    delete from outbox where position <= (select max(position) from (select position from outbox order by position limit $1) first) returning *
  ), head as (
    update event_sequence set last = last + (select count(*) from batch) where id = 1 and exists (select from batch)
    returning last - (select count(*) from batch) as before
  )
  insert into events (seq, id, "workspaceId", type, "instanceId", "messageId", "campaignId", payload, "createdAt")
  select before + row_number() over (order by position), id, "workspaceId", type, "instanceId", "messageId", "campaignId", payload, "createdAt"
  from batch, head
  returning ${eventColumns}, extract(epoch from clock_timestamp() - "createdAt") as lag`

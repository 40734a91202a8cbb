// SQL of the relay. All of it runs on one dedicated connection, because the advisory lock and the settings belong to a session.
import type { Sql } from '../../core/database/database.ts'
import { type EventRow, eventColumns, eventOf } from './log.sql.ts'
import type { LogEvent } from './log.ts'

/**
 * Sets timeouts that end the leadership of a frozen or disconnected process within 4 s, so that another process takes over. Leadership
 * only saves work: the row lock on event_sequence keeps the numbers correct, whichever process assigns them. The tables are empty at one
 * moment and large at the next. Sequential scans are disabled, so that no cached plan from an empty table scans a large one.
 */
export async function limitSession(sql: Sql): Promise<void> {
  await sql.query(
    `set enable_seqscan = off; set idle_session_timeout = 4000; set idle_in_transaction_session_timeout = 4000; set lock_timeout = 4000;
     set tcp_keepalives_idle = 2; set tcp_keepalives_interval = 1; set tcp_keepalives_count = 2`,
  )
}

/** Key of the advisory lock. Any number works if every process uses the same one. */
const lockKey = 4_617_230_010

/** Takes the advisory lock of the leader until the session ends. Returns false, without waiting, if another process has it. */
export async function tryLead(sql: Sql): Promise<boolean> {
  const { rows } = await sql.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [lockKey])
  return rows[0]?.mine ?? false
}

/** The channel on which other processes announce that they committed events. */
const channel = 'gateway_outbox'

/** Announces committed events to the leader. */
export async function notifyLeader(sql: Sql): Promise<void> {
  await sql.query({ name: 'events.announce', text: `select pg_notify('${channel}', '')` })
}

/** Receives these announcements as notifications of the session. */
export async function listenToOthers(sql: Sql): Promise<void> {
  await sql.query(`listen ${channel}`)
}

/** True if the outbox has committed rows above a position (primary key). */
export async function hasWork(sql: Sql, after: bigint): Promise<boolean> {
  const { rows } = await sql.query<{ work: boolean }>({
    name: 'events.work',
    text: 'select exists (select from outbox where position > $1) as work',
    values: [after],
  })
  return rows[0]?.work ?? false
}

export async function begin(sql: Sql): Promise<void> {
  await sql.query('begin')
}

export async function rollback(sql: Sql): Promise<void> {
  await sql.query('rollback')
}

/**
 * Moves the oldest rows of the outbox above a position to the log, under the next numbers (primary key). Returns the events in the order of their
 * numbers, and how long each was in the outbox, in seconds. The row lock on event_sequence, held until the commit, keeps the numbers without gaps. Only
 * committed rows are visible, so a transaction that commits late gets a late number. `position` orders the events of one transaction.
 */
export async function numberOldest(tx: Sql, after: bigint, most: number): Promise<{ events: LogEvent[]; lags: number[] }> {
  const { rows } = await tx.query<EventRow & { lag: string }>({
    name: 'events.number',
    text: `
  with batch as (
    delete from outbox where position > $1 and position <= (
      select max(position) from (select position from outbox where position > $1 order by position limit $2) first
    ) returning *
  ), head as (
    update event_sequence set last = last + (select count(*) from batch) where id = 1 and exists (select from batch)
    returning last - (select count(*) from batch) as before
  )
  insert into events (seq, id, "workspaceId", type, "instanceId", "messageId", "campaignId", payload, "createdAt")
  select before + row_number() over (order by position), id, "workspaceId", type, "instanceId", "messageId", "campaignId", payload, "createdAt"
  from batch, head
  returning ${eventColumns}, extract(epoch from clock_timestamp() - "createdAt") as lag`,
    values: [after, most],
  })
  return {
    events: rows.map(({ lag, ...row }) => eventOf(row)).sort((a, b) => (a.seq < b.seq ? -1 : 1)),
    lags: rows.map(({ lag }) => Number(lag)),
  }
}

/** Commits, and notifies all processes of the last number, in one round trip. PostgreSQL delivers the notification after the commit. */
export async function notifyAndCommit(sql: Sql, last: bigint): Promise<void> {
  await sql.query(`select pg_notify('gateway_events', '${last}'); commit`)
}

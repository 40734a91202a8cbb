// SQL of the sandbox network: the messages that it accepted, and its pending steps.
import type { Sql } from '../../core/database/database.ts'
import type { ReceiptStatus } from '../reports.ts'

/** Things that happen to the connection of an instance. */
export type StateKind = 'connected' | 'disconnect' | 'reconnect' | 'restrict'

/** The details of a step, by its kind. */
export interface StepPayload {
  status?: ReceiptStatus
  error?: string
  /** The step that follows this one, in latencies after it has happened. */
  next?: { kind: StateKind; after: number }
}

export interface NewStep extends StepPayload {
  instanceId: string
  messageId?: string
  kind: StateKind | 'receipt' | 'answer'
  /** In latencies from the present. */
  after: number
}

/** A step of a connection. */
export interface Move {
  id: string
  instanceId: string
  kind: StateKind
  payload: StepPayload
}

/** A receipt or an answer. */
export interface Report {
  instanceId: string
  messageId: string | null
  kind: 'receipt' | 'answer'
  payload: StepPayload
  /** When it happened on the network. */
  at: Date
  /** Number and text of the message that an `answer` answers; null in a receipt. */
  to: string | null
  body: string | null
}

/** Schedules steps by the clock of the database, which all processes share. */
export async function addSteps(tx: Sql, steps: readonly NewStep[], latencyMs: number): Promise<void> {
  if (steps.length === 0) return
  await tx.query({
    name: 'sandbox.addSteps',
    text: `insert into sandbox_steps ("instanceId", reference, kind, payload, "dueAt")
      select u.i, u.r, u.k, u.p, clock_timestamp() + u.ms * interval '1 millisecond'
      from unnest($1::uuid[], $2::text[], $3::text[], $4::jsonb[], $5::float8[]) as u(i, r, k, p, ms)`,
    values: [
      steps.map((step) => step.instanceId),
      steps.map((step) => step.messageId ?? null),
      steps.map((step) => step.kind),
      steps.map(({ status, error, next }) => JSON.stringify({ status, error, next })),
      steps.map((step) => step.after * latencyMs),
    ],
  })
}

/**
 * Deletes the first `limit` due receipts and answers from the time `from` on (index on "dueAt", id), and returns them in the order in which
 * they happened. From the beginning on it would walk all steps that an old snapshot keeps. Skips the row locks of other processes, which take
 * other steps; they are due again if this transaction fails. The planner may not join: most of the time the table is empty, and with statistics
 * of that time a join compared every step with every other one, 600 ms for 1,000 in place of 8 ms.
 */
export async function takeDueReports(tx: Sql, from: string, limit: number): Promise<Report[]> {
  const { rows } = await tx.query<Report>({
    name: 'sandbox.take',
    text: `with taken as (
        delete from sandbox_steps where id = any(array(
          select id from sandbox_steps where "dueAt" >= $1 and "dueAt" <= clock_timestamp() and kind in ('receipt', 'answer')
          order by "dueAt", id limit $2 for update skip locked
        )) returning id, "instanceId", reference as "messageId", kind, payload, "dueAt" as at
      )
      select t.*, m."to", m.body from taken t
      left join lateral (select "to", body from sandbox_messages where reference = t."messageId" and t.kind = 'answer' offset 0) m on true
      order by t.at, t.id`,
    values: [from, limit],
  })
  return rows
}

/**
 * The due steps of connections from the time `from` on, oldest first, at most `limit`, without those of some instances. Any process may take
 * them meanwhile.
 */
export async function readDueMoves(sql: Sql, from: string, limit: number, without: readonly string[] = []): Promise<Move[]> {
  const { rows } = await sql.query<Move>({
    name: 'sandbox.moves',
    text: `select id, "instanceId", kind, payload from sandbox_steps
      where "dueAt" >= $1 and "dueAt" <= clock_timestamp() and kind not in ('receipt', 'answer') and "instanceId" <> all($3::uuid[])
      order by "dueAt", id limit $2`,
    values: [from, limit, without],
  })
  return rows
}

/** Deletes a step. Returns false if it is gone: the row lock makes two processes agree on who took it. */
export async function deleteStep(tx: Sql, id: string): Promise<boolean> {
  return (await tx.query('delete from sandbox_steps where id = $1', [id])).rowCount === 1
}

export interface NextStep {
  /** When it is due, as PostgreSQL writes it. */
  at: string
  /** Milliseconds until then, which are negative for an overdue one. */
  ms: number
}

/** The step that is due next; undefined if none is pending. */
export async function readNextStep(sql: Sql): Promise<NextStep | undefined> {
  const { rows } = await sql.query<NextStep>({
    name: 'sandbox.next',
    text: `select "dueAt"::text as at, (extract(epoch from "dueAt" - clock_timestamp()) * 1000)::float8 as ms
      from sandbox_steps order by "dueAt", id limit 1`,
  })
  return rows[0]
}

/** Cancels what would happen to an instance after its logout. The receipts of its messages still come. */
export async function cancelSteps(tx: Sql, instanceId: string): Promise<void> {
  await tx.query(`delete from sandbox_steps where "instanceId" = $1 and kind <> 'receipt'`, [instanceId])
}

/** The instances among these whose connection is about to drop, or has dropped and is not back yet. */
export async function droppedInstances(tx: Sql, instanceIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ instanceId: string }>(
    `select distinct "instanceId" from sandbox_steps where kind in ('disconnect', 'reconnect') and "instanceId" = any($1::uuid[])`,
    [instanceIds],
  )
  return new Set(rows.map((row) => row.instanceId))
}

export interface NewSandboxMessage {
  messageId: string
  instanceId: string
  to: string
  body: string
}

/** Stores messages once for each id (primary key); returns how many attempts each had before. */
export async function recordMessages(tx: Sql, messages: readonly NewSandboxMessage[]): Promise<Map<string, number>> {
  if (messages.length === 0) return new Map()
  const { rows } = await tx.query<{ messageId: string; offers: number }>({
    name: 'sandbox.record',
    text: `insert into sandbox_messages as m (reference, "instanceId", "to", body)
      select * from unnest($1::text[], $2::uuid[], $3::text[], $4::text[])
      on conflict (reference) do update set offers = m.offers + 1 returning reference as "messageId", offers`,
    values: [
      messages.map((message) => message.messageId),
      messages.map((message) => message.instanceId),
      messages.map((message) => message.to),
      messages.map((message) => message.body),
    ],
  })
  return new Map(rows.map((row) => [row.messageId, row.offers - 1]))
}

/** Deletes messages (primary key). Their receipts still come, and the gateway ignores them. */
export async function deleteMessages(tx: Sql, messageIds: readonly string[]): Promise<void> {
  await tx.query('delete from sandbox_messages where reference = any($1::text[])', [messageIds])
}

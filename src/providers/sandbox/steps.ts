// Pending steps of the sandbox network, stored in the database so that a killed process loses none of them.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import type { InboundMessage, ProviderEvents, Receipt, StateChange } from '../provider.ts'
import { sandboxNumber } from './script.ts'

export interface NewStep {
  instanceId: string
  reference?: string
  kind: 'receipt' | 'answer' | 'connected' | 'disconnect' | 'reconnect' | 'restrict'
  status?: string
  error?: string
  /** In latencies from the present. */
  after: number
  /** The step that follows this one, in latencies after it has happened. */
  next?: { kind: StateKind; after: number }
}

interface Step {
  id: string
  instanceId: string
  reference: string | null
  kind: NewStep['kind']
  payload: Pick<NewStep, 'error' | 'next'> & { status?: Receipt['status'] }
  dueAt: Date
  to: string | null
  body: string | null
}

/** Adds steps in the transaction `tx`. */
export async function addSteps(tx: Sql, steps: readonly NewStep[], latencyMs: number): Promise<void> {
  if (steps.length === 0) return
  await tx.query({
    name: 'sandbox.addSteps',
    text: `insert into sandbox_steps ("instanceId", reference, kind, payload, "dueAt")
      select u.i, u.r, u.k, u.p, clock_timestamp() + u.ms * interval '1 millisecond'
      from unnest($1::uuid[], $2::text[], $3::text[], $4::jsonb[], $5::float8[]) as u(i, r, k, p, ms)`,
    values: [
      steps.map((step) => step.instanceId),
      steps.map((step) => step.reference ?? null),
      steps.map((step) => step.kind),
      steps.map(({ status, error, next }) => JSON.stringify({ status, error, next })),
      steps.map((step) => step.after * latencyMs),
    ],
  })
}

/** Lease on a due step: a process must report it in this time, or another process may report it again. */
const holdMs = 10_000

/**
 * Runs due steps: leases, reports and deletes them. If a process dies in between, receipts and answers are reported again, as on
 * real networks (at-least-once delivery); changes of a connection happen once. Returns the milliseconds until the next step, at
 * most `idleMs`; 0 if more steps are due.
 */
export async function runDueSteps(app: App, events: ProviderEvents, idleMs: number): Promise<number> {
  const { rows } = await app.pool.query<Step>({
    name: 'sandbox.take',
    text: `with due as (
        select id from sandbox_steps where "dueAt" <= clock_timestamp() order by "dueAt", id limit 1000 for update skip locked
      ), taken as (
        update sandbox_steps s set "dueAt" = clock_timestamp() + $1 * interval '1 millisecond' from due
        where s.id = due.id returning s.id, s."instanceId", s.reference, s.kind, s.payload, s."dueAt"
      )
      select t.*, m."to", m.body from taken t left join sandbox_messages m on m.reference = t.reference order by t.id`,
    values: [holdMs],
  })
  const news = rows.filter((row) => row.kind === 'receipt' || row.kind === 'answer')
  if (news.length > 0) {
    await report(news, events)
    await app.pool.query({
      name: 'sandbox.done',
      text: 'delete from sandbox_steps where id = any($1::bigint[])',
      values: [news.map((row) => row.id)],
    })
  }
  for (const row of rows) {
    if (row.kind !== 'receipt' && row.kind !== 'answer') await move(app, events, row, row.kind)
  }
  if (rows.length === 1000) return 0
  const next = await app.pool.query<{ ms: number }>({
    name: 'sandbox.next',
    text: `select (extract(epoch from min("dueAt") - clock_timestamp()) * 1000)::float8 as ms from sandbox_steps`,
  })
  return Math.max(0, Math.min(idleMs, next.rows[0]?.ms ?? idleMs))
}

type StateKind = Exclude<NewStep['kind'], 'receipt' | 'answer'>

/** State change of an instance by each step of a connection. */
export const changes: Record<StateKind, (instanceId: string, seed: number) => Omit<StateChange, 'instanceId'>> = {
  connected: (instanceId, seed) => ({ status: 'connected', waNumber: sandboxNumber(seed, instanceId) }),
  disconnect: () => ({ status: 'disconnected', error: 'CONNECTION_LOST' }),
  reconnect: () => ({ status: 'connected' }),
  restrict: () => ({ restricted: true, error: 'ACCOUNT_RESTRICTED' }),
}

/** Runs a step of a connection, unless it was cancelled or another process was faster, and adds the step that follows. */
async function move(app: App, events: ProviderEvents, { id, instanceId, payload }: Step, kind: StateKind): Promise<void> {
  await sqlTransaction(app.pool, async (tx) => {
    const { rowCount } = await tx.query('delete from sandbox_steps where id = $1', [id])
    if (rowCount === 0) return
    await events.state({ instanceId, ...changes[kind](instanceId, app.config.sandboxSeed) }, tx)
    if (payload.next) await addSteps(tx, [{ instanceId, ...payload.next }], app.config.sandboxLatencyMs)
  })
  app.signals.emit('outbox')
}

async function report(steps: readonly Step[], events: ProviderEvents): Promise<void> {
  const at = new Date()
  const receipts: Receipt[] = []
  const answers: InboundMessage[] = []
  for (const step of steps) {
    const { instanceId, reference, payload } = step
    if (step.kind === 'receipt' && reference && payload.status) {
      receipts.push({
        instanceId,
        reference,
        providerMessageId: `sandbox.${reference}`,
        status: payload.status,
        error: payload.error,
        at,
      })
    }
    if (step.kind === 'answer' && reference && step.to) {
      answers.push({
        instanceId,
        providerMessageId: `sandbox.echo.${reference}`,
        from: step.to,
        type: 'text',
        body: `echo: ${step.body}`,
        at,
      })
    }
  }
  if (receipts.length > 0) await events.receipts(receipts)
  if (answers.length > 0) await events.inbound(answers)
}

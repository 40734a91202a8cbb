// Pending steps of the sandbox network, stored in the database so that a killed process loses none of them.
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import type { InboundMessage, Receipt, Reports, StateChange } from '../reports.ts'
import { addSteps, deleteSteps, leaseDueSteps, type StateKind, type Step, untilNextStep } from './sandbox.sql.ts'
import { sandboxNumber } from './script.ts'

/** Lease on a due step: a process must report it in this time, or another process may report it again. */
const leaseMs = 10_000
/** Most steps of one lease. */
const mostSteps = 1_000

/**
 * Runs due steps: leases, reports and deletes them. If a process dies in between, receipts and answers are reported again, as on
 * real networks (at-least-once delivery); changes of a connection happen once. Returns the milliseconds until the next step, at
 * most `idleMs`; 0 if more steps are due.
 */
export async function runDueSteps(app: App, events: Reports, idleMs: number): Promise<number> {
  const { steps, nextInMs } = await leaseDueSteps(app.pool, mostSteps, leaseMs)
  if (steps.length === 0) return Math.max(0, Math.min(idleMs, nextInMs ?? idleMs))
  const reports = steps.filter(({ kind }) => kind === 'receipt' || kind === 'answer')
  if (reports.length > 0) {
    await report(reports, events)
    await deleteSteps(
      app.pool,
      reports.map((step) => step.id),
    )
  }
  for (const step of steps) if (step.kind !== 'receipt' && step.kind !== 'answer') await move(app, events, step, step.kind)
  if (steps.length === mostSteps) return 0
  return Math.max(0, Math.min(idleMs, (await untilNextStep(app.pool)) ?? idleMs))
}

/** State change of an instance by each step of a connection. */
export const changes: Record<StateKind, (instanceId: string, seed: number) => Omit<StateChange, 'instanceId'>> = {
  connected: (instanceId, seed) => ({ status: 'connected', waNumber: sandboxNumber(seed, instanceId) }),
  disconnect: () => ({ status: 'disconnected', error: 'CONNECTION_LOST' }),
  reconnect: () => ({ status: 'connected' }),
  restrict: () => ({ restricted: true, error: 'ACCOUNT_RESTRICTED' }),
}

/** Runs a step of a connection, unless it was cancelled or another process was faster, and adds the step that follows. */
async function move(app: App, events: Reports, { id, instanceId, payload }: Step, kind: StateKind): Promise<void> {
  await sqlTransaction(app.pool, async (tx) => {
    if ((await deleteSteps(tx, [id])) === 0) return
    await events.state({ instanceId, ...changes[kind](instanceId, app.config.sandboxSeed) }, tx)
    if (payload.next) await addSteps(tx, [{ instanceId, ...payload.next }], app.config.sandboxLatencyMs)
  })
  app.signals.emit('outbox')
}

async function report(steps: readonly Step[], events: Reports): Promise<void> {
  const receipts: Receipt[] = []
  const answers: InboundMessage[] = []
  for (const { kind, instanceId, reference, payload, at, to, body } of steps) {
    if (!reference) continue
    if (kind === 'receipt' && payload.status) {
      const { status, error } = payload
      receipts.push({ instanceId, reference, providerMessageId: `sandbox.${reference}`, status, error, at })
    }
    if (kind === 'answer' && to) {
      const providerMessageId = `sandbox.echo.${reference}`
      answers.push({
        instanceId,
        providerMessageId,
        from: to,
        type: 'text',
        body: `echo: ${body}`,
        content: { kind: 'text' },
        at,
      })
    }
  }
  if (receipts.length > 0) await events.receipts(receipts)
  if (answers.length > 0) await events.inbound(answers)
}

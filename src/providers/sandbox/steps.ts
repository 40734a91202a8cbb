// Pending steps of the sandbox network, stored in the database so that a killed process loses none of them.
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import type { InboundMessage, Receipt, Reports } from '../reports.ts'
import type { Moves } from './moves.ts'
import { addSteps, type NewStep, type Report, readNextStep, takeDueReports } from './sandbox.sql.ts'

/** Most receipts and answers of one turn. */
const mostSteps = 1_000
/** Wait while others are at all due steps, such as processes that may freeze with them, and before an answer is reported again. */
const othersMs = 100

/**
 * Runs due steps. Receipts and answers are reported in the transaction that deletes them. If a process dies or freezes in between, the server
 * ends its transaction, and they are due and reported again, as on real networks (at-least-once delivery). Returns the milliseconds until the
 * next call, at most `idleMs`.
 */
export async function runDueSteps(app: App, events: Reports, moves: Moves, idleMs: number): Promise<number> {
  const next = await readNextStep(app.pool)
  if (!next || next.ms > 0) return Math.min(idleMs, next?.ms ?? idleMs)
  const reported = await sqlTransaction(app.pool, async (tx) => {
    const steps = await takeDueReports(tx, next.at, mostSteps)
    await addSteps(tx, await report(steps, events), othersMs)
    return steps.length
  })
  const moving = await moves.begin(next.at)
  return reported + moving > 0 ? 0 : Math.min(idleMs, othersMs)
}

/** Returns the answers that are to be reported again later. */
async function report(steps: readonly Report[], events: Reports): Promise<NewStep[]> {
  const receipts: Receipt[] = []
  const answers = new Map<InboundMessage, NewStep>()
  for (const { kind, instanceId, messageId, payload, at, to, body } of steps) {
    if (!messageId) continue
    if (kind === 'receipt' && payload.status) {
      const { status, error } = payload
      receipts.push({ instanceId, messageId, providerMessageId: `sandbox.${messageId}`, status, error, at })
    }
    if (kind === 'answer' && to) {
      const providerMessageId = `sandbox.echo.${messageId}`
      const answer = {
        instanceId,
        providerMessageId,
        from: to,
        type: 'text',
        body: `echo: ${body}`,
        content: { kind: 'text' },
        at,
      } as const
      answers.set(answer, { instanceId, messageId, kind, after: 1 })
    }
  }
  if (receipts.length > 0) await events.receipts(receipts)
  const mustWait = answers.size > 0 ? await events.inboundAtOnce([...answers.keys()]) : []
  return mustWait.map((answer) => answers.get(answer) as NewStep)
}

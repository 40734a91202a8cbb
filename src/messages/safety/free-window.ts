// Warns of messages that their network will refuse, because it takes only approved templates from now until the recipient writes again.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import type { ProviderName } from '../../providers/provider.ts'
import { providerOf } from '../../providers/providers.ts'
import { lacksInbound } from './free-window.sql.ts'
import { type Judgement, safetyWith } from './safety.ts'

const outsideWarning = 'outside the 24-hour window: only an approved template reaches this number'

/** A message that is to leave at `scheduledAt`, or at once. */
interface Leaving {
  principal: { workspaceId: string }
  instance: { id: string; provider: ProviderName }
  to: string
  scheduledAt: Date | null
  template: object | null
}

/**
 * The messages, each with `outsideWindow` if its network will take nothing but an approved template, which it is not. One query for all of
 * them, and none if no network among them has such a rule.
 */
export async function markOutsideWindow<Message extends Leaving>(
  app: App,
  tx: Sql,
  messages: readonly Message[],
): Promise<readonly (Message & { outsideWindow?: boolean })[]> {
  const bound = messages.filter((message) => message.template === null && freeContentMs(app, message) !== undefined)
  if (bound.length === 0) return messages
  const now = Date.now()
  const asked = bound.map((message) => ({
    workspaceId: message.principal.workspaceId,
    instanceId: message.instance.id,
    peer: message.to,
    since: new Date((message.scheduledAt?.getTime() ?? now) - (freeContentMs(app, message) ?? 0)),
  }))
  const lacking = await lacksInbound(tx, asked)
  const outside = new Set(bound.filter((_, i) => lacking.has(i)))
  return messages.map((message) => (outside.has(message) ? { ...message, outsideWindow: true } : message))
}

function freeContentMs(app: App, { instance }: Leaving): number | undefined {
  return providerOf(app, instance.provider)?.freeContentMs
}

/** The judgement with the warning added. */
export function warnOutsideWindow(judged: Omit<Judgement, 'cold'>): Omit<Judgement, 'cold'> {
  const { state, score } = judged.safety
  const warnings = [...judged.warnings, outsideWarning]
  return { warnings, safety: safetyWith(warnings, state, score) }
}

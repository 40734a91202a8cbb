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
 * them, and none if no network among them has such a rule; two more for those that seem to be outside.
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
    message,
    workspaceId: message.principal.workspaceId,
    instanceId: message.instance.id,
    peer: message.to,
    since: new Date((message.scheduledAt?.getTime() ?? now) - (freeContentMs(app, message) ?? 0)),
  }))
  const lacking = await lacksInbound(tx, asked)
  const seeming = asked.filter((_, i) => lacking.has(i))
  const outside = new Set(seeming.map(({ message }) => message))
  const renamed = await underAddresses(app, tx, seeming)
  const stillLacking = renamed.length > 0 ? await lacksInbound(tx, renamed) : new Set()
  for (const [i, { message }] of renamed.entries()) if (!stillLacking.has(i)) outside.delete(message)
  return messages.map((message) => (outside.has(message) ? { ...message, outsideWindow: true } : message))
}

/** Those whose number the network writes with other digits, with that number: an answer comes from it. */
async function underAddresses<Asked extends { message: Leaving; instanceId: string; peer: string }>(
  app: App,
  tx: Sql,
  asked: readonly Asked[],
): Promise<Asked[]> {
  const byProvider = Map.groupBy(asked, ({ message }) => message.instance.provider)
  const found = await Promise.all(
    [...byProvider].map(async ([provider, own]) => {
      const numbers = own.map(({ instanceId, peer }) => ({ instanceId, phone: peer }))
      const addresses = (await providerOf(app, provider)?.addressesOf?.(tx, numbers)) ?? []
      return own.flatMap((one, i) => (addresses[i] ? [{ ...one, peer: addresses[i] }] : []))
    }),
  )
  return found.flat()
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

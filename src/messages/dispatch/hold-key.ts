// Keys under which messages wait: those of one recipient, of one instance, or of one account at a provider.
import type { Hold } from '../../providers/outgoing.ts'
import type { ProviderName } from '../../providers/provider.ts'

export interface Addressed {
  workspaceId: string
  instanceId: string
  peer: string
  provider: ProviderName
}

export function recipientKey({ instanceId, peer }: Pick<Addressed, 'instanceId' | 'peer'>): string {
  return `recipient ${instanceId} ${peer}`
}

export function instanceKey(instanceId: string): string {
  return `instance ${instanceId}`
}

/** Anybody can name an account at a provider in the settings of an instance, so one workspace never holds up another. */
export function accountKey({ workspaceId, provider }: Pick<Addressed, 'workspaceId' | 'provider'>, account: string): string {
  return `account ${provider} ${workspaceId} ${account}`
}

/** The key of what the network asked to wait with. */
export function holdKey(hold: Hold, message: Addressed): string {
  if (hold.of === 'recipient') return recipientKey(message)
  return hold.of === 'account' ? accountKey(message, hold.account) : instanceKey(message.instanceId)
}

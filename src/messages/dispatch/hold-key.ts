// Keys under which messages wait: those of one recipient, of one instance, or of one account at a provider.

import type { Hold } from '../../providers/outgoing.ts'
import type { ProviderName } from '../../providers/provider.ts'

export interface Addressed {
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

export function accountKey(provider: ProviderName, account: string): string {
  return `account ${provider} ${account}`
}

/** The key of what the network asked to wait with. */
export function holdKey(hold: Hold, message: Addressed): string {
  if (hold.of === 'recipient') return recipientKey(message)
  return hold.of === 'instance' ? instanceKey(message.instanceId) : accountKey(message.provider, hold.account)
}

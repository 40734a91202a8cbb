// The instance of a message, from a row of the message that has the columns of its instance.
import type { ProviderName, StoredInstance } from '../providers/provider.ts'

export interface WithInstance {
  instanceId: string
  provider: ProviderName
  waNumber: string | null
  settings: unknown
  credentials: StoredInstance['credentials']
}

/** The instance, as its provider takes it. */
export function instanceOf({ instanceId: id, waNumber, settings, credentials }: Omit<WithInstance, 'provider'>): StoredInstance {
  return { id, waNumber, settings, credentials }
}

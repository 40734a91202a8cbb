// The manual billing provider: an operator sees that the money came, and confirms the order.
import type { BillingProvider } from './provider.ts'

/** Orders stay in the list of `gateway checkout list` until `gateway account plan` confirms them. */
export const manual: BillingProvider = {
  name: 'manual',
  open: async () => ({ externalId: null, url: null }),
  isOpen: async () => true,
  close: async () => {},
  renew: async () => false,
  end: async () => {},
}

// The billing provider that is a person: whoever runs the gateway sees that the money came, and says so.
import type { BillingProvider } from './provider.ts'

/** Orders wait in the list of `gateway checkout list` until `gateway account plan` confirms them. */
export const manual: BillingProvider = {
  name: 'manual',
  open: async () => ({ externalId: null, url: null }),
  isOpen: async () => true,
  close: async () => {},
  renew: async () => false,
}

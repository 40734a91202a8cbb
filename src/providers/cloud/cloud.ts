// Cloud provider: WhatsApp by Meta's Cloud API, over the Graph API.
import type { App } from '../../core/app.ts'
import { defineProvider } from '../define-provider.ts'
import type { Connector } from '../provider.ts'
import { type CloudInstance, type KnownCloudInstance, secrets, settings } from './settings.ts'

export const cloud = defineProvider({ name: 'cloud', settings, secrets, identity: 'phoneNumberId', open: openCloud })

function openCloud(app: App): Connector<CloudInstance, KnownCloudInstance> {
  return {
    // Meta has no idempotency key, so a send whose answer was lost is never repeated.
    sendsOnce: () => false,
    reconcileMs: app.config.cloud.reconcileMs,
    connect: async () => ({ status: 'disconnected', error: 'not connected' }),
    logout: async () => {},
    send: async () => ({ outcome: 'retry', error: 'PROVIDER_ERROR' }),
    // Meta has no look-up of numbers.
    lookup: async (_, numbers) => numbers.map(() => null),
    sendsTemplates: true,
    freeContentMs: 24 * 3_600_000,
    verifyToken: ({ settings }) => settings.verifyToken,
    start: async () => new AsyncDisposableStack(),
  }
}

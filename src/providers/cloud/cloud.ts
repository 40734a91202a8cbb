// Cloud provider: WhatsApp by Meta's Cloud API, over the Graph API.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { dayMs } from '../../core/durations.ts'
import { defineProvider } from '../define-provider.ts'
import { faultOfFile } from '../outgoing.ts'
import type { Connector } from '../provider.ts'
import { readAddresses } from './addresses.sql.ts'
import { checkNumber } from './check.ts'
import { leave } from './depart.ts'
import { startHealth } from './health.ts'
import { hookRoutes } from './hook.ts'
import { fetchMedia } from './hook-media.ts'
import { markRead } from './hook-read.ts'
import { keepHost } from './host.ts'
import { enqueueLink } from './link-job.ts'
import { createSend } from './send.ts'
import { type CloudInstance, type KnownCloudInstance, secrets, settings } from './settings.ts'
import { readApproved } from './templates.ts'

export const cloud = defineProvider({ name: 'cloud', settings, secrets, identity: 'phoneNumberId', open: openCloud })

/** The settings that the subscription of the webhooks depends on. */
const ofSubscription = ['businessAccountId', 'accessToken', 'verifyToken', 'appSecret'] as const

function openCloud(app: App): Connector<CloudInstance, KnownCloudInstance> {
  return {
    // Meta has no idempotency key, so a send whose answer was lost is never repeated.
    sendsOnce: () => false,
    reconcileMs: app.config.cloud.reconcileMs,
    accountOf: ({ settings }) => settings.businessAccountId ?? null,
    async connect({ id }, _, tx) {
      await enqueueLink(app, tx, id, 'connect')
      return undefined
    },
    async changed(before, after, status, tx) {
      const { id, settings } = after
      const isMoved = before.settings.businessAccountId !== settings.businessAccountId
      if (isMoved) await leaveAccount(app, before, tx)
      if (status === 'connecting') await enqueueLink(app, tx, id, 'connect')
      const isOther = ofSubscription.some((name) => before.settings[name] !== settings[name])
      if (status === 'connected' && isOther) await enqueueLink(app, tx, id, 'subscribe')
    },
    logout: (instance, tx) => leaveAccount(app, instance, tx),
    send: createSend(app),
    // Meta has no look-up of numbers.
    lookup: async (_, numbers) => numbers.map(() => null),
    approvedTemplates: ({ settings }) => readApproved(app, settings),
    check: ({ settings }) => checkNumber(app, settings),
    faultOfFile,
    freeContentMs: dayMs,
    addressesOf: readAddresses,
    verifyToken: ({ settings }) => settings.verifyToken,
    async start(host) {
      keepHost(app, host)
      return startHealth(app, host)
    },
    fetchMedia: (...of) => fetchMedia(app, ...of),
    markRead: (...of) => markRead(app, ...of),
    routes: hookRoutes(app),
  }
}

/** A number that never connected has no webhooks to end, unless it is connecting now, which then ends them. */
async function leaveAccount(app: App, { id, waNumber, settings }: KnownCloudInstance, tx: Sql): Promise<void> {
  const { accessToken, businessAccountId } = settings
  if (waNumber !== null && accessToken && businessAccountId)
    await leave(app, tx, { instanceId: id, businessAccountId }, accessToken)
}

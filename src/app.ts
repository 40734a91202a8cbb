// Builds the App: opens what core owns, and connects the calls from a domain and from a provider up to a higher one.
import { readAuthors } from './accounts/find-user.ts'
import { limitSignIn } from './billing/admission/sign-in-rate.ts'
import { continueCampaigns } from './campaigns/campaign-job.ts'
import { keepRecipients, lockCampaigns } from './campaigns/expired.sql.ts'
import { plannedSends } from './campaigns/forecast.ts'
import { checkCampaign } from './campaigns/service.ts'
import { enqueueTakeBack } from './campaigns/stopped.ts'
import { eraseRecipients } from './campaigns/take-back.ts'
import { type App, type AppOptions, createApp } from './core/app.ts'
import { sampleEvent } from './event-types.ts'
import { findInstance, findSiblings } from './instances/of-provider.ts'
import { limitedInstances } from './instances/over-plan.ts'
import { checkInstance } from './instances/service.ts'
import { applyChange, changeState } from './instances/state.ts'
import { fileAt } from './media/service.ts'
import { instanceKey } from './messages/dispatch/hold-key.ts'
import { readSent } from './messages/dispatch/sent.sql.ts'
import { releaseWaiting } from './messages/dispatch/waiting.ts'
import { withdrawFrom } from './messages/dispatch/withdraw.ts'
import { eraseNumber } from './messages/erase/erase.ts'
import { isReceived } from './messages/receipts/inbound.sql.ts'
import { receiveAtOnce, receiveMessages } from './messages/receipts/inbound.ts'
import { reportReceipts } from './messages/receipts/receipts.ts'
import { knownNumbers } from './messages/safety/known-numbers.ts'
import { checkMessage } from './messages/service.ts'
import type { ProviderHost, ProviderName, StoredInstance } from './providers/provider.ts'
import { lockCallerRole } from './teams/lock.ts'
import { isInvited, revokeInvitations } from './teams/open-invitations.ts'
import { lockLimits, lockQuota } from './teams/quota.ts'
import { eraseAnswers } from './webhooks/attempts.sql.ts'
import { disableEndpointsOf } from './webhooks/disable.ts'
import { limitedEndpoints } from './webhooks/over-plan.ts'
import { countEndpoints, endEndpoints } from './webhooks/service.ts'

export async function openApp(options: Omit<AppOptions, 'hooks'>): Promise<App> {
  return await createApp({
    ...options,
    hooks: {
      lockCallerRole,
      lockLimits,
      lockQuota,
      limitSignIn,
      readAuthors,
      revokeInvitations,
      isInvited,
      limitedInstances,
      limitedEndpoints,
      countEndpoints,
      releaseWaiting,
      plannedSends,
      knownNumbers,
      leaveOutOfCampaigns: withdrawFrom,
      enqueueTakeBack,
      continueCampaigns,
      lockCampaigns,
      keepRecipients,
      eraseRecipients,
      eraseNumber,
      eraseAnswers,
      deleteEndpoints: endEndpoints,
      disableEndpoints: disableEndpointsOf,
      checkInstance,
      checkMessage,
      checkCampaign,
      sampleEvent,
    },
  })
}

/** Takes the reports of the provider with that name, and finds its instances. */
export function hostFor(app: App, provider: ProviderName): ProviderHost<StoredInstance> {
  return {
    instance: (id, tx) => findInstance(app, provider, id, tx),
    siblings: (id, name, value) => findSiblings(app, provider, id, { name, value }),
    sent: (instanceId, id) => readSent(app.pool, instanceId, id),
    received: (instanceId, id) => isReceived(app.pool, instanceId, id),
    ready: (instanceId) => void app.signals.emit('held', instanceKey(instanceId), 0),
    file: (url) => fileAt(app, url),
    state: (change, tx) => (tx ? applyChange(app, tx, change) : changeState(app, change)),
    inbound: (messages) => receiveMessages(app, messages),
    inboundAtOnce: (messages) => receiveAtOnce(app, messages),
    receipts: async (receipts) => {
      const end = app.metrics.receiptSeconds.startTimer({ provider })
      const results = await reportReceipts(app, receipts)
      end()
      return results
    },
  }
}

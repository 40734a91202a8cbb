// Builds the App: opens what core owns, and connects the calls from a domain up to a higher one.

import { limitSignIn } from './billing/admission/sign-in-rate.ts'
import { checkCampaign } from './campaigns/service.ts'
import { type App, type AppOptions, createApp } from './core/app.ts'
import { sampleEvent } from './event-types.ts'
import { checkInstance } from './instances/service.ts'
import { releaseWaiting } from './messages/dispatch/waiting.ts'
import { checkMessage } from './messages/service.ts'
import { holdRole } from './teams/hold.ts'
import { holdLimits, holdQuota } from './teams/quota.ts'
import { revokeInvitations } from './teams/revoke-invitations.ts'
import { disableEndpointsOf } from './webhooks/disable.ts'
import { endEndpoints } from './webhooks/service.ts'

export async function openApp(options: Omit<AppOptions, 'hooks'>): Promise<App> {
  return await createApp({
    ...options,
    hooks: {
      holdRole,
      holdLimits,
      holdQuota,
      limitSignIn,
      revokeInvitations,
      releaseWaiting,
      deleteEndpoints: endEndpoints,
      disableEndpoints: disableEndpointsOf,
      checkInstance,
      checkMessage,
      checkCampaign,
      sampleEvent,
    },
  })
}

// Builds the App: opens what core owns, and connects the calls from a domain up to a higher one.

import { readAuthors } from './accounts/service.ts'
import { limitSignIn } from './billing/admission/sign-in-rate.ts'
import { type App, type AppOptions, createApp } from './core/app.ts'
import { releaseWaiting } from './messages/dispatch/waiting.ts'
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
      readAuthors,
      revokeInvitations,
      releaseWaiting,
      deleteEndpoints: endEndpoints,
      disableEndpoints: disableEndpointsOf,
    },
  })
}

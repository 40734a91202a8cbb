// What domains own for the whole process, attached to the app in the order in which they need each other.
import { createIdentity } from './accounts/identity.ts'
import { createMailer } from './accounts/mailer.ts'
import { createAdmission } from './billing/admit.ts'
import { createSessionAdmission } from './billing/admit-session.ts'
import { holdPlan } from './billing/hold-plan.ts'
import { createKeyUse } from './billing/last-used.ts'
import { createBillingProviders } from './billing/providers.ts'
import { createSignInRate } from './billing/sign-in-rate.ts'
import type { App } from './core/app.ts'
import { fail } from './core/errors.ts'
import { createMediaStore } from './media/store.ts'
import { createAcceptance } from './messages/accept.ts'
import { createSettlement } from './messages/dispatch.ts'
import { createSafetyBook } from './messages/safety.ts'
import { releaseWaiting } from './messages/waiting.ts'
import { createSandbox } from './providers/sandbox/sandbox.ts'
import { holdRole } from './teams/hold.ts'
import { revokeInvitations } from './teams/revoke-invitations.ts'
import { disableEndpointsOf } from './webhooks/disable.ts'
import { createLanes } from './webhooks/lanes.ts'
import { endEndpoints } from './webhooks/service.ts'

export function attachDomains(app: App): App {
  app.identity = createIdentity(app)
  app.mailer = createMailer(app)
  app.revokeInvitations = revokeInvitations
  app.holdLimits = async (tx, userId) => {
    const { plan, active } = await holdPlan(tx, userId)
    return active ? plan.limits : fail('SUBSCRIPTION_INACTIVE')
  }
  app.holdRole = holdRole
  app.keyUse = createKeyUse(app)
  app.admit = createAdmission(app)
  app.admitSession = createSessionAdmission(app)
  app.limitSignIn = createSignInRate(app)
  app.billing = createBillingProviders(app)
  app.providers = new Map([['sandbox', createSandbox(app)]])
  app.media = createMediaStore(app)
  app.safety = createSafetyBook(app)
  app.accept = createAcceptance(app)
  app.settle = createSettlement(app)
  app.instantAt = Number.NEGATIVE_INFINITY
  app.releaseWaiting = (tx, instanceId) => releaseWaiting(app, tx, instanceId)
  app.deliveries = createLanes(app)
  app.endReceivers = endEndpoints
  app.disableReceiversOf = disableEndpointsOf
  return app
}

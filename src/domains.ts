// What domains own for the whole process, attached to the app in the order in which they need each other.

import { createMailer } from './accounts/mail/mailer.ts'
import { createIdentity } from './accounts/sign-in/identity.ts'
import { createAdmission } from './billing/admission/admit.ts'
import { createSessionAdmission } from './billing/admission/admit-session.ts'
import { createKeyUse } from './billing/admission/last-used.ts'
import { createSignInRate } from './billing/admission/sign-in-rate.ts'
import { holdPlan } from './billing/hold-plan.ts'
import { createBillingProviders } from './billing/providers.ts'
import type { App } from './core/app.ts'
import { fail } from './core/errors.ts'
import { createMediaStore } from './media/open-store.ts'
import { createAcceptance } from './messages/accept/accept.ts'
import { createSettlement } from './messages/dispatch/dispatch.ts'
import { releaseWaiting } from './messages/dispatch/waiting.ts'
import { createSafetyBook } from './messages/safety/safety.ts'
import { createSandbox } from './providers/sandbox/sandbox.ts'
import { holdRole } from './teams/hold.ts'
import { revokeInvitations } from './teams/revoke-invitations.ts'
import { createDeliveryQueues } from './webhooks/delivery-queues.ts'
import { disableEndpointsOf } from './webhooks/disable.ts'
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
  app.deliveries = createDeliveryQueues(app)
  app.endReceivers = endEndpoints
  app.disableReceiversOf = disableEndpointsOf
  return app
}

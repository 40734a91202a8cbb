// GraphQL mutations that order, cancel and resume a plan.
import { z } from 'zod'
import { builder } from '../core/graph/builder.ts'
import { defineInput, idempotencyKey, registerEnum } from '../core/graph/input.ts'
import { keyed } from '../core/idempotency/idempotency.ts'
import { CheckoutStatus } from '../generated/prisma/enums.ts'
import { checkOut } from './checkout.ts'
import { changeRenewal } from './renewal.ts'
import { SubscriptionInfo } from './schema.ts'

const paidPlans = ['pro', 'max'] as const
registerEnum('PaidPlan', builder.enumType('PaidPlan', { values: paidPlans, description: 'The plans that can be ordered.' }))

const CheckoutInput = defineInput(
  'CheckoutInput',
  'A plan to order.',
  z.object({
    plan: z.enum(paidPlans).meta({ id: 'PaidPlan', description: 'The plan to change to.' }),
    idempotencyKey,
  }),
)

const CheckoutStatusRef = builder.enumType('CheckoutStatus', {
  description: 'A checkout is `pending` until it is paid; `expired` when it cannot be paid any more.',
  values: Object.values(CheckoutStatus),
})

const CheckoutRef = builder.prismaObject('Checkout', {
  description: 'A plan that was ordered. Nothing is granted before it is paid.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    provider: t.exposeString('provider', { description: '`manual`, where an operator confirms it, or `stripe`.' }),
    status: t.field({ type: CheckoutStatusRef, description: 'What became of it.', resolve: (row) => row.status }),
    url: t.exposeString('url', { nullable: true, description: 'Where to pay; null where an operator confirms.' }),
  }),
})

const notOwner = { BILLING_TEAM_MUTATION_FORBIDDEN: 'for who does not own the team' }

builder.mutationFields((t) => ({
  checkout: t.field({
    type: CheckoutRef,
    description: 'Orders a plan; an order of it that can still be paid is answered again. People only.',
    errors: [
      notOwner,
      { INVALID_STATE: 'where it is in force already' },
      'PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS',
      'PROVIDER_ERROR',
      'FORBIDDEN',
    ],
    authScopes: { payer: true },
    args: { input: t.arg({ type: CheckoutInput.ref, required: true, description: 'What to order.' }) },
    resolve: (_, { input }, ctx) => {
      const once = keyed(ctx, 'checkout', input)
      return checkOut(once, CheckoutInput.parse(ctx.app.config, input).plan)
    },
  }),
  cancelSubscription: t.field({
    type: SubscriptionInfo,
    description:
      'Lets the subscription end with its period; until then everything stays usable, then the plan is Free. People only.',
    errors: [
      notOwner,
      'INVALID_STATE',
      { PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS: 'where Free has no room for the teams' },
      'PROVIDER_ERROR',
      'FORBIDDEN',
    ],
    authScopes: { payer: true },
    resolve: (_, __, ctx) => changeRenewal(ctx, 'cancel'),
  }),
  resumeSubscription: t.field({
    type: SubscriptionInfo,
    description: 'Takes a cancellation back, as long as the period lasts. People only.',
    errors: [notOwner, 'INVALID_STATE', 'PROVIDER_ERROR', 'FORBIDDEN'],
    authScopes: { payer: true },
    resolve: (_, __, ctx) => changeRenewal(ctx, 'resume'),
  }),
}))

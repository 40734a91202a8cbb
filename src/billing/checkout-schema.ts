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
  'An order of a plan.',
  z.object({
    plan: z.enum(paidPlans).meta({ id: 'PaidPlan', description: 'The new plan.' }),
    idempotencyKey,
  }),
)

const CheckoutStatusRef = builder.enumType('CheckoutStatus', {
  description: 'A checkout is `pending` until it is paid, and `expired` once it can no longer be paid.',
  values: Object.values(CheckoutStatus),
})

const CheckoutRef = builder.prismaObject('Checkout', {
  description: 'An order of a plan. The plan starts after the payment.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    provider: t.exposeString('provider', { description: '`manual` if an operator confirms the order, or `stripe`.' }),
    status: t.field({ type: CheckoutStatusRef, description: 'Its status.', resolve: (row) => row.status }),
    url: t.exposeString('url', { nullable: true, description: 'The payment page; null if an operator confirms the order.' }),
  }),
})

const notOwner = { BILLING_TEAM_MUTATION_FORBIDDEN: 'unless you own the team' }

builder.mutationFields((t) => ({
  checkout: t.field({
    type: CheckoutRef,
    description: 'Orders a plan. If an order of this plan can still be paid, it is returned again. For signed-in users.',
    errors: [
      notOwner,
      { INVALID_STATE: 'if it is the current plan' },
      'PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS',
      'PROVIDER_ERROR',
      'FORBIDDEN',
    ],
    authScopes: { payer: true },
    args: { input: t.arg({ type: CheckoutInput.ref, required: true, description: 'The order.' }) },
    resolve: (_, { input }, ctx) => {
      const once = keyed(ctx, 'checkout', input)
      return checkOut(once, CheckoutInput.parse(ctx.app.config, input).plan)
    },
  }),
  cancelSubscription: t.field({
    type: SubscriptionInfo,
    description:
      'Cancels the subscription at the end of its period. Everything stays usable until then; afterwards the plan is Free. For signed-in users.',
    errors: [
      notOwner,
      'INVALID_STATE',
      { PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS: 'if your teams do not fit into the Free plan' },
      'PROVIDER_ERROR',
      'FORBIDDEN',
    ],
    authScopes: { payer: true },
    resolve: (_, __, ctx) => changeRenewal(ctx, 'cancel'),
  }),
  resumeSubscription: t.field({
    type: SubscriptionInfo,
    description: 'Undoes the cancellation, as long as the period has not ended. For signed-in users.',
    errors: [notOwner, 'INVALID_STATE', 'PROVIDER_ERROR', 'FORBIDDEN'],
    authScopes: { payer: true },
    resolve: (_, __, ctx) => changeRenewal(ctx, 'resume'),
  }),
}))

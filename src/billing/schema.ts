// GraphQL types and queries of account, plan and usage.

import { fail } from '../core/errors.ts'
import { builder } from '../core/graph/builder.ts'
import { PaymentStatus, SubscriptionStatus } from '../generated/prisma/enums.ts'
import { refuseCollaborators, refusePaymentsUnlessOwner } from './admission/roles.ts'
import { readUsage, type UsageSnapshot } from './admission/usage.ts'
import { PlanRef } from './plan-schema.ts'
import { planInForce, planOf, plans } from './plans.ts'
import { subscriptionAt } from './subscription.ts'

export const UsageRef = builder.objectRef<UsageSnapshot>('Usage').implement({
  description: 'What the account used in the present calendar month (UTC), its personal and team workspaces together.',
  fields: (t) => ({
    plan: t.field({ type: PlanRef, description: 'The plan in force.', resolve: (usage) => usage.plan }),
    messagesCount: t.exposeInt('messagesCount', { description: 'Messages that count.' }),
    statusesCount: t.exposeInt('statusesCount', { description: 'Statuses that count.' }),
    effectiveOutboundUsage: t.int({
      description: 'Messages and statuses together.',
      resolve: (usage) => usage.messagesCount + usage.statusesCount,
    }),
    apiRequestsCount: t.exposeInt('apiRequestsCount', {
      description: 'API requests with a key, also this one if it has one; those of people who are signed in do not count.',
    }),
    periodStart: t.expose('periodStart', { type: 'DateTime', description: 'The beginning of the month.' }),
    periodEnd: t.expose('periodEnd', { type: 'DateTime', description: 'The beginning of the next.' }),
  }),
})

const SubscriptionStatusRef = builder.enumType('SubscriptionStatus', {
  description: '`cancelled` is usable until the period ends; `inactive` allows no creating and sending.',
  values: Object.values(SubscriptionStatus),
})

/** Rows must come from {@link subscriptionAt}. */
export const SubscriptionInfo = builder.prismaObject('Subscription', {
  name: 'SubscriptionInfo',
  description: 'What the account subscribed to.',
  fields: (t) => ({
    plan: t.field({ type: PlanRef, description: 'The plan in force.', resolve: (row) => planOf(row.plan) }),
    status: t.field({
      type: SubscriptionStatusRef,
      description: 'Whether it is usable.',
      resolve: (row) => row.status,
    }),
    currentPeriodStart: t.expose('currentPeriodStart', {
      type: 'DateTime',
      description: 'The beginning of the billing period.',
    }),
    currentPeriodEnd: t.expose('currentPeriodEnd', { type: 'DateTime', description: 'Its end.' }),
    cancelAtPeriodEnd: t.exposeBoolean('cancelAtPeriodEnd', { description: 'Whether it ends with the period.' }),
  }),
})

/** One payment a month makes that many in eighty years. */
const mostPayments = 1_000

const PaymentStatusRef = builder.enumType('PaymentStatus', {
  description: 'A payment that `failed` may still be `paid` later, and one that was paid `refunded`.',
  values: Object.values(PaymentStatus),
})

const PaymentRef = builder.prismaObject('Payment', {
  description: 'Money that was to be paid.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    amount: t.float({ description: 'In units of the currency.', resolve: ({ amountCents }) => amountCents / 100 }),
    currency: t.exposeString('currency', { description: 'Always EUR.' }),
    status: t.field({ type: PaymentStatusRef, description: 'What became of it.', resolve: ({ status }) => status }),
    description: t.exposeString('description', { description: 'What for.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When.' }),
  }),
})

const UserRef = builder.prismaObject('User', {
  description: 'The account behind the key, or the person who is signed in.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    email: t.exposeString('email', { description: 'The e-mail address.' }),
    name: t.exposeString('name', { description: 'The name.' }),
    emailVerified: t.exposeBoolean('emailVerified', { description: 'Whether the address was verified.' }),
    plan: t.field({
      type: PlanRef,
      description: 'The plan in force, also for whoever looks at the workspace of a team.',
      resolve: async ({ id }, _, { app, principal }) => {
        if (principal.ownerId === id) return planOf(principal.plan)
        return planInForce(await app.db.subscription.findUniqueOrThrow({ where: { userId: id } }), new Date())
      },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  }),
})

builder.queryFields((t) => ({
  me: t.prismaField({
    type: UserRef,
    description: 'The account behind the key, or the person who is signed in. Not for team keys.',
    authScopes: { personal: true },
    resolve: (query, _, __, { app, principal }) => app.db.user.findUniqueOrThrow({ ...query, where: { id: principal.userId } }),
  }),
  usage: t.field({
    type: UsageRef,
    description: 'What was used this month. For personal keys and for people; of a team for its owner and admins.',
    errors: [{ FORBIDDEN: 'for collaborators' }],
    authScopes: { personal: true },
    resolve: async (_, __, { app, principal }) => {
      refuseCollaborators(principal)
      return await readUsage(app, principal.ownerId, principal.plan)
    },
  }),
  plans: t.field({
    type: [PlanRef],
    extensions: { items: plans.length },
    description: 'The plan catalogue.',
    resolve: () => [...plans],
  }),
  subscription: t.prismaField({
    type: SubscriptionInfo,
    description: 'What the account subscribed to. For personal keys and for people; of a team for its owner and admins.',
    errors: ['NOT_FOUND', { FORBIDDEN: 'for collaborators' }],
    authScopes: { personal: true },
    resolve: async (query, _, __, { app, principal }) => {
      refuseCollaborators(principal)
      const row = await app.db.subscription.findUnique({ ...query, where: { userId: principal.ownerId } })
      return subscriptionAt(row ?? fail('NOT_FOUND', 'Subscription not found'), new Date())
    },
  }),
  payments: t.field({
    type: [PaymentRef],
    extensions: { items: 100, most: mostPayments },
    description: 'What was paid, newest first, at most 1,000. For personal keys and for people; of a team for its owner.',
    errors: [{ BILLING_PAYMENTS_TEAM_OWNER_ONLY: 'for anybody else' }],
    authScopes: { personal: true },
    resolve: async (_, __, { app, principal }) => {
      refusePaymentsUnlessOwner(principal)
      return await app.db.payment.findMany({
        where: { userId: principal.ownerId },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: mostPayments,
      })
    },
  }),
}))

// GraphQL types and queries of account, plan and usage.
import { countKeys } from '../accounts/keys/api-keys.ts'
import { fail } from '../core/errors.ts'
import { builder } from '../core/graph/builder.ts'
import { PaymentStatus, SubscriptionStatus } from '../generated/prisma/enums.ts'
import { type PeriodUsage, usageNow } from './admission/quota.sql.ts'
import { refuseCollaborators, refusePaymentsUnlessOwner } from './admission/roles.ts'
import { PlanRef } from './plan-schema.ts'
import { type Plan, planInForce, planOf, plans } from './plans.ts'
import { subscriptionAt } from './subscription.ts'

export const UsageRef = builder.objectRef<PeriodUsage & { plan: Plan }>('Usage').implement({
  description: "The account's usage in the current billing period, in its personal and team workspaces together.",
  fields: (t) => ({
    plan: t.field({ type: PlanRef, description: 'The current plan.', resolve: (usage) => usage.plan }),
    messagesCount: t.exposeInt('messagesCount', { description: 'Messages that count towards the quota.' }),
    statusesCount: t.exposeInt('statusesCount', { description: 'Statuses that count towards the quota.' }),
    effectiveOutboundUsage: t.int({
      description: 'Messages and statuses together.',
      resolve: (usage) => usage.messagesCount + usage.statusesCount,
    }),
    apiRequestsCount: t.exposeInt('apiRequestsCount', {
      description: 'API requests with a key, including this one if it uses a key. Requests of signed-in users do not count.',
    }),
    apiKeys: t.int({
      description: 'API keys that exist now.',
      resolve: (_, __, { app, principal }) => countKeys(app.db, principal.ownerId),
    }),
    webhookEndpoints: t.int({
      description: 'Webhook endpoints that exist now.',
      resolve: (_, __, { app, principal }) => app.hooks.countEndpoints(app.db, principal.ownerId),
    }),
    periodStart: t.expose('periodStart', {
      type: 'DateTime',
      description: 'The start of the billing period; of the calendar month (UTC) on Free.',
    }),
    periodEnd: t.expose('periodEnd', { type: 'DateTime', description: 'The start of the next period.' }),
  }),
})

const SubscriptionStatusRef = builder.enumType('SubscriptionStatus', {
  description: '`cancelled` stays usable until the period ends; `inactive` does not allow creating and sending.',
  values: Object.values(SubscriptionStatus),
})

/** Rows must come from {@link subscriptionAt}. */
export const SubscriptionInfo = builder.prismaObject('Subscription', {
  name: 'SubscriptionInfo',
  description: 'The subscription of the account.',
  fields: (t) => ({
    plan: t.field({ type: PlanRef, description: 'The current plan.', resolve: (row) => planOf(row.plan) }),
    status: t.field({
      type: SubscriptionStatusRef,
      description: 'Its status, which decides if it can be used.',
      resolve: (row) => row.status,
    }),
    suspended: t.boolean({
      description: 'True if an operator suspended the account. It is `inactive` until the operator ends that, whatever is paid.',
      resolve: ({ suspendedFrom }) => suspendedFrom !== null,
    }),
    currentPeriodStart: t.expose('currentPeriodStart', {
      type: 'DateTime',
      description: 'The start of the billing period.',
    }),
    currentPeriodEnd: t.expose('currentPeriodEnd', { type: 'DateTime', description: 'The end of the billing period.' }),
    cancelAtPeriodEnd: t.exposeBoolean('cancelAtPeriodEnd', { description: 'True if the subscription ends with the period.' }),
  }),
})

/** A plain list, because one payment a month makes that many in eighty years. */
const mostPayments = 1_000

const PaymentStatusRef = builder.enumType('PaymentStatus', {
  description: 'A `failed` payment may become `paid` later, and a `paid` one `refunded`.',
  values: Object.values(PaymentStatus),
})

const PaymentRef = builder.prismaObject('Payment', {
  description: 'A payment.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    amount: t.float({ description: 'The amount, in units of the currency.', resolve: ({ amountCents }) => amountCents / 100 }),
    currency: t.exposeString('currency', { description: 'Always EUR.' }),
    status: t.field({ type: PaymentStatusRef, description: 'Its status.', resolve: ({ status }) => status }),
    description: t.exposeString('description', { description: 'The plan and the period that were paid.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When.' }),
  }),
})

const UserRef = builder.prismaObject('User', {
  description: 'A user: the account behind the key, or the signed-in person.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    email: t.exposeString('email', { description: 'The e-mail address.' }),
    name: t.exposeString('name', { description: 'The name.' }),
    emailVerified: t.exposeBoolean('emailVerified', { description: 'True if the address is verified.' }),
    operator: t.boolean({
      description: 'True if the signed-in user may read `operator`; always false for an API key.',
      resolve: ({ operator }, _, { principal }) => operator && principal.kind === 'console',
    }),
    plan: t.field({
      type: PlanRef,
      description: 'The current plan of the account, even if the request is for the workspace of a team.',
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
    description: 'The account behind the key, or the signed-in user. Not for team keys.',
    authScopes: { personal: true },
    resolve: (query, _, __, { app, principal }) => app.db.user.findUniqueOrThrow({ ...query, where: { id: principal.userId } }),
  }),
  usage: t.field({
    type: UsageRef,
    description:
      'The usage of the current billing period. For personal keys and signed-in users; for a team, its owner and admins.',
    errors: [{ FORBIDDEN: 'for collaborators' }],
    authScopes: { personal: true },
    resolve: async (_, __, { app, principal }) => {
      refuseCollaborators(principal)
      return { plan: planOf(principal.plan), ...(await usageNow(app.pool, principal.ownerId)) }
    },
  }),
  plans: t.field({
    type: [PlanRef],
    extensions: { items: plans.length },
    description: 'All plans.',
    resolve: () => [...plans],
  }),
  subscription: t.prismaField({
    type: SubscriptionInfo,
    description: 'The subscription of the account. For personal keys and signed-in users; for a team, its owner and admins.',
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
    description: 'The payments, newest first, at most 1,000. For personal keys and signed-in users; for a team, its owner.',
    errors: [{ BILLING_PAYMENTS_TEAM_OWNER_ONLY: 'for everybody else' }],
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

// Account, plan and usage in the graph.
import { builder } from '../core/builder.ts'
import type { PlanFeatures, PlanLimits } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { SubscriptionStatus } from '../generated/prisma/enums.ts'
import { periodOf } from './period.ts'
import { type Plan, planOf, plans } from './plans.ts'
import { readUsage, type UsageSnapshot } from './usage.ts'

const PlanLimitsRef = builder.objectRef<PlanLimits>('PlanLimits').implement({
  description: 'The numbers of a plan.',
  fields: (t) => ({
    maxInstances: t.exposeInt('maxInstances', { description: 'Instances at once.' }),
    maxApiKeys: t.exposeInt('maxApiKeys', { description: 'API keys at once.' }),
    maxWebhookEndpoints: t.exposeInt('maxWebhookEndpoints', { description: 'Webhook endpoints at once.' }),
    monthlyOutboundQuota: t.exposeInt('monthlyOutboundQuota', {
      description: 'Messages and statuses in a calendar month (UTC).',
    }),
    monthlyApiRequestQuota: t.exposeInt('monthlyApiRequestQuota', { description: 'API requests in a calendar month (UTC).' }),
    maxContactGroups: t.exposeInt('maxContactGroups', {
      nullable: true,
      description: 'Contact groups at once; null is unlimited.',
    }),
  }),
})

const PlanFeaturesRef = builder.objectRef<PlanFeatures>('PlanFeatures').implement({
  description: 'What a plan includes.',
  fields: (t) => ({
    campaigns: t.exposeBoolean('campaigns', { description: 'Campaigns.' }),
    statuses: t.exposeBoolean('statuses', { description: 'Publishing statuses; on no plan.' }),
    voiceNotes: t.exposeBoolean('voiceNotes', { description: 'Voice notes.' }),
    webhooks: t.exposeBoolean('webhooks', { description: 'Webhook endpoints.' }),
    numberLookups: t.exposeBoolean('numberLookups', { description: 'Number look-ups.' }),
  }),
})

const PlanTeamsRef = builder.objectRef<Plan['teams']>('PlanTeams').implement({
  description: 'The teams a plan allows.',
  fields: (t) => ({
    maxOwned: t.exposeInt('maxOwned', { description: 'Teams owned.' }),
    seatsPerTeam: t.exposeInt('seatsPerTeam', { description: 'Members of each, the owner included.' }),
  }),
})

export const PlanRef = builder.objectRef<Plan>('Plan').implement({
  description: 'A plan of the catalogue.',
  fields: (t) => ({
    code: t.exposeString('code', { description: '`free`, `pro` or `max`.' }),
    name: t.exposeString('name', { description: 'What it is called.' }),
    monthlyPrice: t.exposeInt('monthlyPrice', { description: 'Price of a month, in whole units of the currency.' }),
    currency: t.exposeString('currency', { description: 'Always EUR.' }),
    limits: t.expose('limits', { type: PlanLimitsRef, description: 'Its numbers.' }),
    features: t.expose('features', { type: PlanFeaturesRef, description: 'What it includes.' }),
    teams: t.expose('teams', { type: PlanTeamsRef, description: 'The teams it allows.' }),
  }),
})

const UsageRef = builder.objectRef<UsageSnapshot>('Usage').implement({
  description: 'What the account used in the present calendar month (UTC), its personal and team workspaces together.',
  fields: (t) => ({
    plan: t.field({ type: PlanRef, description: 'The plan in force.', resolve: (usage) => usage.plan }),
    messagesCount: t.exposeInt('messagesCount', { description: 'Messages that count.' }),
    statusesCount: t.exposeInt('statusesCount', { description: 'Statuses that count.' }),
    effectiveOutboundUsage: t.int({
      description: 'Messages and statuses together.',
      resolve: (usage) => usage.messagesCount + usage.statusesCount,
    }),
    apiRequestsCount: t.exposeInt('apiRequestsCount', { description: 'API requests, this one included.' }),
    periodStart: t.expose('periodStart', { type: 'DateTime', description: 'The beginning of the month.' }),
    periodEnd: t.expose('periodEnd', { type: 'DateTime', description: 'The beginning of the next.' }),
  }),
})

const SubscriptionStatusRef = builder.enumType('SubscriptionStatus', {
  description: '`cancelled` is usable until the period ends; `inactive` allows no creating and sending.',
  values: Object.values(SubscriptionStatus),
})

const SubscriptionInfo = builder.prismaObject('Subscription', {
  name: 'SubscriptionInfo',
  description: 'What the account subscribed to.',
  fields: (t) => ({
    plan: t.field({
      type: PlanRef,
      description: 'The plan in force.',
      resolve: (_, __, ctx) => planOf(ctx.principal.plan),
    }),
    status: t.field({
      type: SubscriptionStatusRef,
      description: 'Whether it is usable.',
      resolve: (row) => row.status,
    }),
    currentPeriodStart: t.field({
      type: 'DateTime',
      description: 'The beginning of the billing period.',
      resolve: (row) => periodOf(row, new Date()).start,
    }),
    currentPeriodEnd: t.field({ type: 'DateTime', description: 'Its end.', resolve: (row) => periodOf(row, new Date()).end }),
    cancelAtPeriodEnd: t.exposeBoolean('cancelAtPeriodEnd', { description: 'Whether it ends with the period.' }),
  }),
})

interface Payment {
  id: string
  amount: number
  currency: string
  status: string
  description: string
  createdAt: Date
}

const PaymentRef = builder.objectRef<Payment>('Payment').implement({
  description: 'Money that was paid.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    amount: t.exposeFloat('amount', { description: 'In units of the currency.' }),
    currency: t.exposeString('currency', { description: 'Always EUR.' }),
    status: t.exposeString('status', { description: 'What became of it.' }),
    description: t.exposeString('description', { description: 'What for.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When.' }),
  }),
})

const UserRef = builder.prismaObject('User', {
  description: 'The account behind the key.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    email: t.exposeString('email', { description: 'The e-mail address.' }),
    name: t.exposeString('name', { description: 'The name.' }),
    emailVerified: t.exposeBoolean('emailVerified', { description: 'Whether the address was verified.' }),
    plan: t.field({ type: PlanRef, description: 'The plan in force.', resolve: (_, __, ctx) => planOf(ctx.principal.plan) }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  }),
})

builder.queryFields((t) => ({
  me: t.prismaField({
    type: UserRef,
    description: 'The account behind the key. Personal keys only.',
    authScopes: { personal: true },
    resolve: (query, _, __, { app, principal }) => app.db.user.findUniqueOrThrow({ ...query, where: { id: principal.userId } }),
  }),
  usage: t.field({
    type: UsageRef,
    description: 'What was used this month. Personal keys only.',
    authScopes: { personal: true },
    resolve: (_, __, { app, principal }) => readUsage(app, principal.ownerId, principal.plan),
  }),
  plans: t.field({ type: [PlanRef], description: 'The plan catalogue.', resolve: () => [...plans] }),
  subscription: t.prismaField({
    type: SubscriptionInfo,
    description: 'What the account subscribed to. Personal keys only. Errors: NOT_FOUND.',
    authScopes: { personal: true },
    resolve: async (query, _, __, { app, principal }) =>
      (await app.db.subscription.findUnique({ ...query, where: { userId: principal.ownerId } })) ??
      fail('NOT_FOUND', 'Subscription not found'),
  }),
  payments: t.field({
    type: [PaymentRef],
    description: 'What was paid, newest first. Personal keys only.',
    authScopes: { personal: true },
    // Nothing takes money yet, so nothing was paid.
    resolve: (): Payment[] => [],
  }),
}))

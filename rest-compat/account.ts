// REST rows of the account: me, usage, billing.
import { z } from 'zod'
import { graphql } from './generated/gql.ts'
import { row } from './route.ts'

const GetMe = graphql(`
  query GetMe {
    me {
      id
      email
      name
      emailVerified
      plan {
        code
        name
      }
      createdAt
    }
  }
`)

const GetUsage = graphql(`
  query GetUsage {
    usage {
      plan {
        code
        name
        limits {
          maxInstances
          maxApiKeys
          maxWebhookEndpoints
          monthlyOutboundQuota
          monthlyApiRequestQuota
        }
        features {
          campaigns
          statuses
          voiceNotes
          webhooks
          numberLookups
        }
      }
      messagesCount
      statusesCount
      effectiveOutboundUsage
      apiRequestsCount
      periodStart
      periodEnd
    }
  }
`)

const ListPlans = graphql(`
  query ListPlans {
    plans {
      code
      name
      monthlyPrice
      currency
      limits {
        maxInstances
        maxApiKeys
        maxWebhookEndpoints
        monthlyOutboundQuota
        monthlyApiRequestQuota
        maxContactGroups
      }
      features {
        campaigns
        statuses
        voiceNotes
        webhooks
        numberLookups
      }
      teams {
        maxOwned
        seatsPerTeam
      }
    }
  }
`)

const GetSubscription = graphql(`
  query GetSubscription {
    subscription {
      plan {
        code
        name
      }
      status
      currentPeriodStart
      currentPeriodEnd
      cancelAtPeriodEnd
    }
  }
`)

const ListPayments = graphql(`
  query ListPayments {
    payments {
      id
      amount
      currency
      status
      description
      createdAt
    }
  }
`)

const planName = z.object({ code: z.string(), name: z.string() })
const limits = {
  maxInstances: z.int(),
  maxApiKeys: z.int(),
  maxWebhookEndpoints: z.int(),
  monthlyOutboundQuota: z.int(),
  monthlyApiRequestQuota: z.int(),
}
const features = z.object({
  campaigns: z.boolean(),
  statuses: z.boolean(),
  voiceNotes: z.boolean(),
  webhooks: z.boolean(),
  numberLookups: z.boolean(),
})

export const accountRoutes = [
  row('GET', '/me', {
    summary: 'Read the account behind the key',
    document: GetMe,
    reach: 'personal',
    surfaces: ['public'],
    variables: () => ({}),
    project: (data) => data.me,
    answer: z.object({
      id: z.uuid(),
      email: z.string(),
      name: z.string(),
      emailVerified: z.boolean(),
      plan: planName,
      createdAt: z.iso.datetime(),
    }),
  }),
  row('GET', '/usage', {
    summary: 'Read what was used this month, in short',
    document: GetUsage,
    reach: 'personal',
    surfaces: ['public'],
    variables: () => ({}),
    project: ({ usage: { plan, ...usage } }) => ({
      plan: { code: plan.code, name: plan.name },
      messagesCount: usage.messagesCount,
      statusesCount: usage.statusesCount,
      effectiveOutboundUsage: usage.effectiveOutboundUsage,
      monthlyOutboundQuota: plan.limits.monthlyOutboundQuota,
      apiRequestsCount: usage.apiRequestsCount,
      monthlyApiRequestQuota: plan.limits.monthlyApiRequestQuota,
      periodStart: usage.periodStart,
      periodEnd: usage.periodEnd,
    }),
    answer: z.object({
      plan: planName,
      messagesCount: z.int(),
      statusesCount: z.int(),
      effectiveOutboundUsage: z.int(),
      monthlyOutboundQuota: z.int(),
      apiRequestsCount: z.int(),
      monthlyApiRequestQuota: z.int(),
      periodStart: z.iso.datetime(),
      periodEnd: z.iso.datetime(),
    }),
  }),
  row('GET', '/billing/usage', {
    summary: 'Read the plan, its limits and what was used this month',
    document: GetUsage,
    reach: 'personal',
    variables: () => ({}),
    project: ({ usage: { plan, ...usage } }) => ({
      plan: { code: plan.code, name: plan.name },
      limits: plan.limits,
      features: plan.features,
      usage: {
        messagesCount: usage.messagesCount,
        statusesCount: usage.statusesCount,
        effectiveOutboundUsage: usage.effectiveOutboundUsage,
        apiRequestsCount: usage.apiRequestsCount,
      },
    }),
    answer: z.object({
      plan: planName,
      limits: z.object(limits),
      features,
      usage: z.object({
        messagesCount: z.int(),
        statusesCount: z.int(),
        effectiveOutboundUsage: z.int(),
        apiRequestsCount: z.int(),
      }),
    }),
  }),
  row('GET', '/billing/plans', {
    summary: 'Read the plan catalogue',
    document: ListPlans,
    reach: 'open',
    variables: () => ({}),
    project: (data) => data.plans,
    answer: z.array(
      z.object({
        ...planName.shape,
        monthlyPrice: z.int(),
        currency: z.literal('EUR'),
        limits: z.object({ ...limits, maxContactGroups: z.int().nullable() }),
        features,
        teams: z.object({ maxOwned: z.int(), seatsPerTeam: z.int() }),
      }),
    ),
  }),
  row('GET', '/billing/subscription', {
    summary: 'Read the subscription and its billing period',
    document: GetSubscription,
    reach: 'personal',
    variables: () => ({}),
    project: (data) => data.subscription,
    answer: z.object({
      plan: planName,
      status: z.string(),
      currentPeriodStart: z.iso.datetime(),
      currentPeriodEnd: z.iso.datetime(),
      cancelAtPeriodEnd: z.boolean(),
    }),
  }),
  row('GET', '/billing/payments', {
    summary: 'List payments',
    document: ListPayments,
    reach: 'personal',
    variables: () => ({}),
    project: (data) => data.payments,
    answer: z.array(
      z.object({
        id: z.uuid(),
        amount: z.number(),
        currency: z.string(),
        status: z.string(),
        description: z.string(),
        createdAt: z.iso.datetime(),
      }),
    ),
  }),
]

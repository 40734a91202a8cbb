// REST rows of billing: plans, subscription, payments.
import { z } from 'zod'
import { GetUsage, limits, planName } from './account.ts'
import { graphql } from './generated/gql.ts'
import { row } from './route.ts'

const ListPlans = graphql(`
  query ListPlans {
    plans {
      code
      name
      monthlyPrice
      currency
      ...PlanTerms
      limits {
        maxContactGroups
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

const features = z
  .object({
    campaigns: z.boolean(),
    statuses: z.boolean(),
    voiceNotes: z.boolean(),
    webhooks: z.boolean(),
    numberLookups: z.boolean(),
  })
  .meta({ id: 'PlanFeatures' })

export const billingRoutes = [
  row('GET', '/billing/usage', {
    summary: 'Read the plan, its limits and what was used this month',
    operationId: 'billingUsage',
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
    answer: z
      .object({
        plan: planName,
        limits: z.object(limits).describe('The numbers of the plan.'),
        features: features.describe('What the plan includes.'),
        usage: z
          .object({
            messagesCount: z.int().describe('Messages that count.'),
            statusesCount: z.int().describe('Statuses that count.'),
            effectiveOutboundUsage: z.int().describe('Messages and statuses together.'),
            apiRequestsCount: z.int().describe('API requests, this one included.'),
          })
          .describe('What was used this month.'),
      })
      .meta({ id: 'BillingUsage' }),
  }),
  row('GET', '/billing/plans', {
    summary: 'Read the plan catalogue',
    document: ListPlans,
    reach: 'open',
    variables: () => ({}),
    project: (data) => data.plans,
    answer: z.array(
      z.object({
        code: z.string(),
        name: z.string(),
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

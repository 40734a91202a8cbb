// REST routes of billing: plans, subscription, payments. Each exists for the caller and, on the console, for a team.
import { z } from 'zod'
import { GetUsage, limits, planName } from './account.ts'
import { graphql } from './generated/gql.ts'
import { bodyAsInput, type Route, row } from './route.ts'

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

graphql(`
  fragment SubscriptionRecord on SubscriptionInfo {
    plan {
      code
      name
    }
    status
    currentPeriodStart
    currentPeriodEnd
    cancelAtPeriodEnd
  }
`)

const GetSubscription = graphql(`
  query GetSubscription {
    subscription {
      ...SubscriptionRecord
    }
  }
`)

const CancelSubscription = graphql(`
  mutation CancelSubscription {
    cancelSubscription {
      ...SubscriptionRecord
    }
  }
`)

const ResumeSubscription = graphql(`
  mutation ResumeSubscription {
    resumeSubscription {
      ...SubscriptionRecord
    }
  }
`)

const OrderPlan = graphql(`
  mutation OrderPlan($input: CheckoutInput!) {
    checkout(input: $input) {
      id
      provider
      status
      url
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

const subscription = z.object({
  plan: planName,
  status: z.enum(['active', 'past_due', 'cancelled', 'inactive']),
  currentPeriodStart: z.iso.datetime(),
  currentPeriodEnd: z.iso.datetime(),
  cancelAtPeriodEnd: z.boolean(),
})

const ownRoutes = [
  row('GET', '/billing/usage', {
    summary: 'Read the plan, its limits and the usage of this billing period',
    operationId: 'billingUsage',
    document: GetUsage,
    scope: 'personal',
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
        limits: z.object(limits).describe('The limits of the plan.'),
        features: features.describe('The features of the plan.'),
        usage: z
          .object({
            messagesCount: z.int().describe('Messages that count towards the quota.'),
            statusesCount: z.int().describe('Statuses that count towards the quota.'),
            effectiveOutboundUsage: z.int().describe('Messages and statuses together.'),
            apiRequestsCount: z
              .int()
              .describe(
                'API requests with a key, including this one if it uses a key. Requests of signed-in users do not count.',
              ),
          })
          .describe('The usage of this billing period.'),
      })
      .meta({ id: 'BillingUsage' }),
  }),
  row('GET', '/billing/plans', {
    summary: 'Read the plan catalogue',
    document: ListPlans,
    scope: 'open',
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
    scope: 'personal',
    variables: () => ({}),
    project: (data) => data.subscription,
    answer: subscription,
  }),
  row('GET', '/billing/payments', {
    summary: 'List payments',
    document: ListPayments,
    scope: 'personal',
    variables: () => ({}),
    project: (data) => data.payments,
    answer: z.array(
      z.object({
        id: z.uuid(),
        amount: z.number(),
        currency: z.string(),
        status: z.enum(['paid', 'failed', 'refunded']),
        description: z.string(),
        createdAt: z.iso.datetime(),
      }),
    ),
  }),
  row('POST', '/billing/checkout', {
    summary: 'Order a plan',
    document: OrderPlan,
    surfaces: ['console'],
    scope: 'personal',
    input: 'CheckoutInput',
    status: 201,
    variables: bodyAsInput,
    project: (data) => data.checkout,
    answer: z.object({
      id: z.uuid(),
      provider: z.enum(['manual', 'stripe']),
      status: z.enum(['pending', 'completed', 'expired']),
      url: z.string().nullable(),
    }),
  }),
  row('POST', '/billing/cancel', {
    summary: 'Cancel the subscription at the end of its period',
    document: CancelSubscription,
    surfaces: ['console'],
    scope: 'personal',
    variables: () => ({}),
    project: (data) => data.cancelSubscription,
    answer: subscription,
  }),
  row('POST', '/billing/resume', {
    summary: 'Undo the cancellation of a subscription',
    document: ResumeSubscription,
    surfaces: ['console'],
    scope: 'personal',
    variables: () => ({}),
    project: (data) => data.resumeSubscription,
    answer: subscription,
  }),
]

/** The same route for the team in the path. */
function ofTeam(route: Route): Route {
  const name = route.path.split('/').at(-1) as string
  return {
    ...route,
    path: `/teams/:teamId${route.path}`,
    operationId: `teamBilling${name[0]?.toUpperCase()}${name.slice(1)}`,
    surfaces: ['console'],
    ofTeam: 'teamId',
  }
}

export const billingRoutes: readonly Route[] = [...ownRoutes, ...ownRoutes.map(ofTeam)]

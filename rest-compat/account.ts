// REST routes of the account: profile and usage.
import { z } from 'zod'
import { graphql } from './generated/gql.ts'
import { deletedAnswer, row } from './route.ts'

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

graphql(`
  fragment PlanTerms on Plan {
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
`)

export const GetUsage = graphql(`
  query GetUsage {
    usage {
      plan {
        code
        name
        ...PlanTerms
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

const DeleteMe = graphql(`
  mutation DeleteMe($password: String!) {
    deleteMe(password: $password) {
      id
      deleted
    }
  }
`)

export const planName = z.object({ code: z.string(), name: z.string() }).meta({ id: 'PlanName' })
export const limits = {
  maxInstances: z.int().describe('Instances at the same time.'),
  maxApiKeys: z.int().describe('API keys at the same time.'),
  maxWebhookEndpoints: z.int().describe('Webhook endpoints at the same time.'),
  monthlyOutboundQuota: z.int().describe('Messages and statuses in a billing period.'),
  monthlyApiRequestQuota: z.int().describe('API requests in a billing period.'),
}

export const accountRoutes = [
  row('GET', '/me', {
    summary: 'Read the account behind the key, or the signed-in user',
    document: GetMe,
    scope: 'personal',
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
  row('DELETE', '/me', {
    surfaces: ['console'],
    scope: 'account',
    summary: 'End your account',
    document: DeleteMe,
    input: 'DeleteMeArguments',
    variables: ({ body }) => ({ password: body.password as string }),
    project: (data) => data.deleteMe,
    answer: deletedAnswer,
  }),
  row('GET', '/usage', {
    summary: 'Read a summary of the usage of this billing period',
    document: GetUsage,
    scope: 'personal',
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
    answer: z
      .object({
        plan: planName,
        messagesCount: z.int(),
        statusesCount: z.int(),
        effectiveOutboundUsage: z.int(),
        monthlyOutboundQuota: limits.monthlyOutboundQuota,
        apiRequestsCount: z.int(),
        monthlyApiRequestQuota: limits.monthlyApiRequestQuota,
        periodStart: z.iso.datetime(),
        periodEnd: z.iso.datetime(),
      })
      .meta({ id: 'UsageSummary' }),
  }),
]

// The limits of plans as rows: what each is called, how much of it is used, and what a plan allows.
import type { BillingPageQuery } from '../generated/billing/graphql.ts'
import { bytes } from '../ui/bytes.ts'
import { count } from '../words/words.ts'
import { text } from './words.ts'

export type Plan = BillingPageQuery['plans'][number]
export type Used = BillingPageQuery['usage']

interface Limit {
  name: string
  /** Undefined where nothing tells it. */
  used: (usage: Used) => number | undefined
  /** Null means unlimited. */
  most: (plan: Plan) => number | null
  format: (value: number) => string
}

export const limits: readonly Limit[] = [
  {
    name: text.messages,
    used: (usage) => usage.effectiveOutboundUsage,
    most: (plan) => plan.limits.monthlyOutboundQuota,
    format: count,
  },
  {
    name: text.requests,
    used: (usage) => usage.apiRequestsCount,
    most: (plan) => plan.limits.monthlyApiRequestQuota,
    format: count,
  },
  { name: text.media, used: (usage) => usage.mediaBytes, most: (plan) => plan.limits.maxMediaBytes, format: bytes },
  { name: text.instances, used: (usage) => usage.instances, most: (plan) => plan.limits.maxInstances, format: count },
  { name: text.apiKeys, used: (usage) => usage.apiKeys, most: (plan) => plan.limits.maxApiKeys, format: count },
  {
    name: text.endpoints,
    used: (usage) => usage.webhookEndpoints,
    most: (plan) => plan.limits.maxWebhookEndpoints,
    format: count,
  },
  { name: text.groups, used: (usage) => usage.contactGroups, most: (plan) => plan.limits.maxContactGroups, format: count },
  { name: text.teams, used: (usage) => usage.teams, most: (plan) => plan.teams.maxOwned, format: count },
  { name: text.seats, used: () => undefined, most: (plan) => plan.teams.seatsPerTeam, format: count },
]

/** The use that a plan does not allow. */
export function excessOf(plan: Plan, usage: Used): { name: string; used: string; most: string; excess: string }[] {
  return limits.flatMap(({ name, used, most, format }) => {
    const [now, bound] = [used(usage) ?? 0, most(plan)]
    if (bound === null || now <= bound) return []
    return [{ name, used: format(now), most: format(bound), excess: format(now - bound) }]
  })
}

export function priceOf({ monthlyPrice, currency }: Plan): string {
  return money(monthlyPrice, currency, 0)
}

export function money(amount: number, currency: string, digits = 2): string {
  const format = { style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits } as const
  return new Intl.NumberFormat(document.documentElement.lang, format).format(amount)
}

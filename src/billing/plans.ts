// The plan catalogue, the only place with the numbers of the plans, and the rule that decides the plan in force of a subscription.
import type { PlanFeatures, PlanLimits } from '../core/principal.ts'
import type { Subscription } from '../generated/prisma/client.ts'

export interface Plan {
  code: 'free' | 'pro' | 'max'
  name: string
  /** In whole euros. */
  monthlyPrice: number
  currency: 'EUR'
  limits: PlanLimits
  features: PlanFeatures
  teams: { maxOwned: number; seatsPerTeam: number }
}

const mib = 1024 ** 2
const gib = 1024 ** 3

const features: PlanFeatures = { campaigns: true, statuses: false, voiceNotes: true, webhooks: true, numberLookups: true }

export const plans: readonly Plan[] = [
  {
    code: 'free',
    name: 'Free',
    monthlyPrice: 0,
    currency: 'EUR',
    limits: {
      maxInstances: 1,
      maxApiKeys: 1,
      maxWebhookEndpoints: 3,
      monthlyOutboundQuota: 500,
      monthlyApiRequestQuota: 500,
      maxContactGroups: 10,
      maxMediaBytes: 100 * mib,
    },
    features,
    teams: { maxOwned: 0, seatsPerTeam: 0 },
  },
  {
    code: 'pro',
    name: 'Pro',
    monthlyPrice: 19,
    currency: 'EUR',
    limits: {
      maxInstances: 5,
      maxApiKeys: 5,
      maxWebhookEndpoints: 15,
      monthlyOutboundQuota: 50_000,
      monthlyApiRequestQuota: 150_000,
      maxContactGroups: 50,
      maxMediaBytes: 5 * gib,
    },
    features,
    teams: { maxOwned: 2, seatsPerTeam: 4 },
  },
  {
    code: 'max',
    name: 'MAX',
    monthlyPrice: 39,
    currency: 'EUR',
    limits: {
      maxInstances: 20,
      maxApiKeys: 10,
      maxWebhookEndpoints: 50,
      monthlyOutboundQuota: 150_000,
      monthlyApiRequestQuota: 500_000,
      maxContactGroups: null,
      maxMediaBytes: 50 * gib,
    },
    features,
    teams: { maxOwned: 4, seatsPerTeam: 8 },
  },
]

const byCode = new Map<string, Plan>(plans.map((plan) => [plan.code, plan]))

/** Returns the plan with that code. A code that is not in the catalogue counts as Free. */
export function planOf(code: string): Plan {
  return byCode.get(code) ?? (plans[0] as Plan)
}

/** True if the first plan is smaller than the second: it comes before it in the catalogue. */
export function isLess(code: string, than: string): boolean {
  return plans.indexOf(planOf(code)) < plans.indexOf(planOf(than))
}

/** True if the subscription is cancelled and its period has ended, even if the job has not stored that yet. */
export function isOver({ status, currentPeriodEnd }: Pick<Subscription, 'status' | 'currentPeriodEnd'>, now: Date): boolean {
  return status === 'cancelled' && currentPeriodEnd <= now
}

/** Returns the plan of a subscription at `now`. */
export function planInForce(row: Pick<Subscription, 'plan' | 'status' | 'currentPeriodEnd'>, now: Date): Plan {
  return planOf(isOver(row, now) ? 'free' : row.plan)
}

/** SQL: the code of {@link planInForce} for the row of `subscriptions` with the alias `row`. */
export function planInForceSql(row: string): string {
  const sold = plans.map(({ code }) => `'${code}'`).join(', ')
  return `case when ${row}.plan in (${sold}) and not (${row}.status = 'cancelled' and ${row}."currentPeriodEnd" <= now()) then ${row}.plan else 'free' end`
}

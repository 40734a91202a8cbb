// The quota that would be left after messages that are not sent yet, and its GraphQL type.
import type { Sql } from '../core/database/database.ts'
import { builder } from '../core/graph/builder.ts'
import type { Principal } from '../core/principal.ts'
import { quotaLeft } from './admission/quota.ts'
import { seesUsage } from './admission/roles.ts'
import { planOf } from './plans.ts'

export interface QuotaAfter {
  limit: number
  left: number
  leftAfter: number
  missing: number
}

export interface QuotaForesight {
  isEnough: boolean
  /** Null for callers who may not see the usage of the team. */
  quota: QuotaAfter | null
}

/** Returns the quota of the present period before and after `n` messages. A snapshot: nothing is reserved. */
export async function foreseeQuota(tx: Sql, principal: Principal, n: number): Promise<QuotaForesight> {
  const { ownerId, plan } = principal
  const left = await quotaLeft(tx, ownerId, plan)
  const missing = Math.max(0, n - left)
  const quota = { limit: planOf(plan).limits.monthlyOutboundQuota, left, leftAfter: Math.max(0, left - n), missing }
  return { isEnough: missing === 0, quota: seesUsage(principal) ? quota : null }
}

export const QuotaPreviewRef = builder.objectRef<QuotaAfter>('QuotaPreview').implement({
  description: 'The quota of messages in the present billing period, before and after those of a preview.',
  fields: (t) => ({
    limit: t.exposeInt('limit', { description: 'What the plan allows in a period.' }),
    left: t.exposeInt('left', { description: 'What is left of it now.' }),
    leftAfter: t.exposeInt('leftAfter', { description: 'What would be left afterwards, at least 0.' }),
    missing: t.exposeInt('missing', { description: 'How many of the messages it is too small for.' }),
  }),
})

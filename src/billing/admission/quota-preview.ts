// The quota that would be left after messages that are not sent yet.
import type { Sql } from '../../core/database/database.ts'
import type { Principal } from '../../core/principal.ts'
import { planOf } from '../plans.ts'
import { quotaLeft } from './quota.ts'
import { seesUsage } from './roles.ts'

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

/** What `n` messages would leave of the quota of the present period. A snapshot: nothing is reserved. */
export async function foreseeQuota(tx: Sql, principal: Principal, n: number): Promise<QuotaForesight> {
  const { ownerId, plan } = principal
  const left = await quotaLeft(tx, ownerId, plan)
  const missing = Math.max(0, n - left)
  const quota = { limit: planOf(plan).limits.monthlyOutboundQuota, left, leftAfter: Math.max(0, left - n), missing }
  return { isEnough: missing === 0, quota: seesUsage(principal) ? quota : null }
}

// Reads the usage of an owner's workspaces in the current billing period.
import type { App } from '../../core/app.ts'
import { type Plan, planOf } from '../plans.ts'
import { type PeriodUsage, usageNow } from './quota.sql.ts'

export interface UsageSnapshot extends PeriodUsage {
  plan: Plan
}

export async function readUsage(app: App, ownerId: string, plan: string): Promise<UsageSnapshot> {
  return { plan: planOf(plan), ...(await usageNow(app.pool, ownerId)) }
}

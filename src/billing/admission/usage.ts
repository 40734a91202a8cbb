// Reads the usage of an owner's workspaces in the current month.
import type { App } from '../../core/app.ts'
import { type Plan, planOf } from '../plans.ts'
import { type MonthUsage, usageNow } from './quota.sql.ts'

export interface UsageSnapshot extends MonthUsage {
  plan: Plan
}

export async function readUsage(app: App, ownerId: string, plan: string): Promise<UsageSnapshot> {
  return { plan: planOf(plan), ...(await usageNow(app.pool, ownerId)) }
}

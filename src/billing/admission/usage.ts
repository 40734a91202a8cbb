// Reads the usage of an owner's workspaces in the current month.
import type { App } from '../../core/app.ts'
import { type Plan, planOf } from '../plans.ts'
import { thisMonth } from './quota.ts'

export interface UsageSnapshot {
  plan: Plan
  messagesCount: number
  statusesCount: number
  apiRequestsCount: number
  periodStart: Date
  periodEnd: Date
}

export async function readUsage(app: App, ownerId: string, plan: string): Promise<UsageSnapshot> {
  const { rows } = await app.pool.query<Omit<UsageSnapshot, 'plan'>>(
    `select coalesce(u."messagesCount", 0) as "messagesCount", coalesce(u."statusesCount", 0) as "statusesCount",
       coalesce(a."apiRequestsCount", 0) as "apiRequestsCount", m.start as "periodStart", m.start + interval '1 month' as "periodEnd"
     from (select ${thisMonth} as period, date_trunc('month', now() at time zone 'utc') at time zone 'utc' as start) m
     left join usage u on u."userId" = $1 and u.period = m.period
     left join api_usage a on a."userId" = $1 and a.period = m.period`,
    [ownerId],
  )
  return { plan: planOf(plan), ...(rows[0] as Omit<UsageSnapshot, 'plan'>) }
}

// The monthly outbound quota: taken when a message is accepted or a scheduled one is sent, returned if the message was never sent.
import type { Sql } from '../../core/database/database.ts'
import { failureFor } from '../../core/errors.ts'
import { planOf } from '../plans.ts'
import {
  addPlanned,
  giveBackQuota,
  lockPlanned,
  plannedCount,
  readUntilRenewal,
  type Taken,
  takeQuota,
  untakeQuota,
  usedQuota,
} from './quota.sql.ts'

export interface QuotaRequest {
  /** The user whose subscription pays. */
  ownerId: string
  plan: string
  /** True to take one from the quota; false to only ask if any is left. */
  counts: boolean
}

/** Takes quota in the transaction `tx`. Returns for each request, in order, if it fitted. Exact across all processes. */
export async function reserveQuota(tx: Sql, requests: readonly QuotaRequest[]): Promise<boolean[]> {
  return (await reserveInTurn(tx, requests)).map(({ fits }) => fits)
}

/**
 * A request's turn: if its quota fits, and when it came. The owner's lock is held from then to the commit, so the requests of one owner,
 * whatever process they reached, commit in the order of these times.
 */
export interface Turn {
  fits: boolean
  at: Date
}

/** {@link reserveQuota}, with the turn of each request. */
export async function reserveInTurn(tx: Sql, requests: readonly QuotaRequest[]): Promise<Turn[]> {
  return await (await reserveAhead(tx, requests))(requests)
}

/**
 * Takes quota for requests of which some may turn out to be refused. The returned function assigns it to those that are not, a part of
 * `requests` in their order, and gives the rest back. Refused requests do not change the quota that the others get. The statement shares a round trip
 * with those that find out which are refused (`npm run bench -- accept`: 4 to 13 % more messages a second).
 */
export async function reserveAhead(
  tx: Sql,
  requests: readonly QuotaRequest[],
): Promise<(accepted: readonly QuotaRequest[]) => Promise<Turn[]>> {
  const owners = new Map<string, { quota: number; wanted: number }>()
  for (const { ownerId, plan, counts } of requests) {
    const owner = owners.get(ownerId) ?? { quota: planOf(plan).limits.monthlyOutboundQuota, wanted: 0 }
    if (counts) owner.wanted++
    owners.set(ownerId, owner)
  }
  const list = [...owners].sort(([a], [b]) => (a < b ? -1 : 1))
  const rows = await takeFrom(
    tx,
    list.map(([id, { quota, wanted }]) => ({ ownerId: id, quota, wanted })),
  )
  // Starts from the quota that was left before this batch, so that a request depends on those before it and not on those after it.
  const left = new Map(rows.map((row) => [row.userId, (owners.get(row.userId)?.quota ?? 0) - row.used + row.granted]))
  const turns = new Map(rows.map(({ userId, at }) => [userId, at]))
  const surplus = new Map(rows.map(({ userId, granted }) => [userId, granted]))
  return async (accepted) => {
    const assigned = accepted.map(({ ownerId, counts }) => {
      const rest = left.get(ownerId) ?? 0
      if (counts) left.set(ownerId, rest - 1)
      if (counts && rest > 0) surplus.set(ownerId, (surplus.get(ownerId) ?? 0) - 1)
      return { fits: rest > 0, at: turns.get(ownerId) as Date }
    })
    const unused = rows.map((row) => ({ ...row, n: surplus.get(row.userId) ?? 0 })).filter(({ n }) => n > 0)
    await untakeQuota(tx, unused)
    return assigned
  }
}

/** {@link takeQuota}, again for owners whose plan changed while it waited for their rows: the next statement sees their new period. */
async function takeFrom(tx: Sql, owners: Parameters<typeof takeQuota>[1]): Promise<Taken[]> {
  if (owners.length === 0) return []
  const rows = await takeQuota(tx, owners, false)
  const carried = new Set(rows.filter((row) => row.carried).map(({ userId }) => userId))
  if (carried.size === 0) return rows
  const again = owners.filter(({ ownerId }) => carried.has(ownerId))
  return [...rows.filter((row) => !row.carried), ...(await takeQuota(tx, again, true))]
}

/** Returns how many more messages and statuses the owner may send in the current period. A snapshot: nothing is reserved. */
export async function quotaLeft(tx: Sql, ownerId: string, plan: string): Promise<number> {
  return Math.max(0, planOf(plan).limits.monthlyOutboundQuota - (await usedQuota(tx, ownerId)))
}

/**
 * Gives back the quota of messages that were never sent, one entry per message: the period that it was taken from, as `YYYY-MM-DD`; null if it
 * took none.
 */
export async function returnQuota(tx: Sql, messages: readonly { ownerId: string; period: string | null }[]): Promise<void> {
  const counts = new Map<string, { ownerId: string; period: string; n: number }>()
  for (const { ownerId, period } of messages) {
    if (period === null) continue
    const name = `${ownerId} ${period}`
    const entry = counts.get(name) ?? { ownerId, period, n: 0 }
    entry.n++
    counts.set(name, entry)
  }
  if (counts.size === 0) return
  // Rows are locked in the order in which acceptance locks them, which prevents deadlocks.
  const list = [...counts.values()].sort((a, b) => (a.ownerId + a.period < b.ownerId + b.period ? -1 : 1))
  await giveBackQuota(tx, list)
}

/** A message can be scheduled at most a year ahead. Messages beyond a year's quota could not be sent. */
const plannedMonths = 12
/** Two of the largest campaigns, so that no campaign that the API contract allows is rejected. */
const leastPlanned = 200_000

/** Returns how many messages and recipients an owner may schedule within one billing period, on that plan. */
function mostPlanned(plan: string): number {
  return Math.max(leastPlanned, plannedMonths * planOf(plan).limits.monthlyOutboundQuota)
}

/** Returns how many more the owner may schedule in the current period. A snapshot: nothing is reserved. */
export async function plannedLeft(sql: Sql, ownerId: string, plan: string): Promise<number> {
  return mostPlanned(plan) - (await plannedCount(sql, ownerId))
}

/**
 * Reserves capacity for `n` scheduled messages, out of {@link mostPlanned}, in the transaction `tx`. Returns for each request, in order, if
 * all of it fitted. Reservations are never returned. Exact across all processes.
 */
export async function reservePlanned(
  tx: Sql,
  requests: readonly { ownerId: string; plan: string; n: number }[],
): Promise<boolean[]> {
  const owners = new Map(requests.filter(({ n }) => n > 0).map(({ ownerId, plan }) => [ownerId, plan]))
  const left = new Map<string, number>()
  // The same lock order as in reserveQuota, which prevents deadlocks.
  const list = [...owners].sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [ownerId, plan] of list) {
    left.set(ownerId, mostPlanned(plan) - (await lockPlanned(tx, ownerId)))
  }
  const before = new Map(left)
  const fits = requests.map(({ ownerId, n }) => {
    const rest = left.get(ownerId) ?? 0
    if (n === 0) return true
    if (n <= rest) left.set(ownerId, rest - n)
    return n <= rest
  })
  for (const [ownerId] of list) {
    await addPlanned(tx, ownerId, (before.get(ownerId) ?? 0) - (left.get(ownerId) ?? 0))
  }
  return fits
}

/** Makes the errors for requests of one owner that have no quota. `Retry-After` is the beginning of the next billing period. */
export interface QuotaRefusals {
  /** For one that {@link reserveInTurn} rejected. */
  usedUp: () => Error
  /** For one that {@link reservePlanned} rejected. */
  tooMuchPlanned: (plan: string) => Error
}

/** Returns for each of these owners what makes its errors. Without owners, no statement is needed. */
export async function quotaRefusals(sql: Sql, ownerIds: readonly string[]): Promise<(ownerId: string) => QuotaRefusals> {
  const seconds = ownerIds.length > 0 ? await readUntilRenewal(sql, ownerIds) : new Map<string, number>()
  return (ownerId) => {
    const refusal = (message?: string) => failureFor(seconds.get(ownerId) ?? 1, 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED', message)
    return {
      usedUp: () => refusal(),
      tooMuchPlanned: (plan) =>
        refusal(`The plan allows ${mostPlanned(plan)} scheduled messages and campaign recipients a month`),
    }
  }
}

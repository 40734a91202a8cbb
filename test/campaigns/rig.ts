// Rig of the campaign tests: numbers, bodies, and a recount of the state of every recipient.
import { expect } from 'vitest'
import { type CampaignStats, statsOf as readStats } from '../../src/campaigns/stats.ts'
import type { Context } from '../../src/core/context.ts'
import type { Answer, Api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'

/** `count` numbers whose messages the sandbox marks as read at once, or treats by the given ending. */
export function numbers(count: number, end = '5555', from = 0): string[] {
  return Array.from({ length: count }, (_, i) => `+3933${String(from + i).padStart(5, '0')}${end}`)
}

export function campaignTo(
  instanceId: string,
  to: readonly string[],
  fields: Record<string, unknown> = {},
): Record<string, unknown> {
  return { instanceId, name: 'News', type: 'text', text: 'hello', recipients: to.map((number) => ({ to: number })), ...fields }
}

export type Counters = Record<'total' | 'planned' | 'queued' | 'sent' | 'delivered' | 'read' | 'failed' | 'cancelled', number>

/** The statistics of a campaign as REST returns them. */
export async function statsOf(api: Api, id: string) {
  const answer = await api.get(`campaigns/${id}/stats`)
  expect(answer.status).toBe(200)
  return answer.body.data as { status: string; stats: Counters; progressPercent: number; timeline: Record<string, string | null> }
}

/** The counters of a campaign by the service, read with a fresh context, as another request does. */
export async function countersIn(ctx: Context, id: string): Promise<CampaignStats['stats']> {
  return (await readStats({ ...ctx }, id)).stats
}

/** The ids of a campaign's messages, in their order. */
export async function messagesIn(databaseUrl: string, campaignId: string): Promise<string[]> {
  const text = 'select id from messages where "campaignId" = $1 order by id'
  return (await sql(databaseUrl).query<{ id: string }>(text, [campaignId])).rows.map(({ id }) => id)
}

/** Waits until the campaign is in that state; returns its statistics at that moment. */
export async function reach(api: Api, id: string, status: string, timeoutMs = 30_000) {
  return await until(
    async () => {
      const stats = await statsOf(api, id)
      if (stats.status !== status) throw new Error(JSON.stringify(stats))
      return stats
    },
    { timeoutMs, everyMs: 50 },
  )
}

/** Brings the start of a scheduled campaign forward, once the test has checked the state before it. */
export async function bringForward(databaseUrl: string, campaignId: string, at = new Date()): Promise<void> {
  const pool = sql(databaseUrl)
  await pool.query('update campaigns set "scheduledFor" = $2 where id = $1', [campaignId, at])
  await pool.query(`update pgboss.job set start_after = now() where name = 'campaign.advance' and data->>'id' = $1`, [campaignId])
}

/** The state of every recipient, counted one by one in another way than the gateway does. */
export async function recount(databaseUrl: string, campaignId: string): Promise<Counters> {
  const { rows } = await sql(databaseUrl).query<{ recipient: string; message: string | null }>(
    `select r.status as recipient, m.status as message from campaign_recipients r left join messages m on m.id = r."messageId"
     where r."campaignId" = $1`,
    [campaignId],
  )
  const counters: Counters = { total: 0, planned: 0, queued: 0, sent: 0, delivered: 0, read: 0, failed: 0, cancelled: 0 }
  for (const { recipient, message } of rows) {
    const state = recipient === 'enqueued' ? message : recipient
    counters[(state === 'sending' ? 'queued' : state) as keyof Counters]++
    counters.total++
  }
  return counters
}

/** The number of messages that the network received for each number of a campaign. */
export async function ledger(databaseUrl: string, campaignId: string): Promise<Map<string, number>> {
  const { rows } = await sql(databaseUrl).query<{ to: string; n: number }>(
    `select s."to", count(*)::int as n from sandbox_messages s join messages m on m.id::text = s.reference and m."campaignId" = $1 group by 1`,
    [campaignId],
  )
  return new Map(rows.map((row) => [row.to, row.n]))
}

export async function expectOnceEach(databaseUrl: string, campaignId: string, to: readonly string[]): Promise<void> {
  expect(await ledger(databaseUrl, campaignId)).toEqual(new Map(to.map((number) => [number, 1])))
}

export function expectCreated(answer: Answer): string {
  expect(answer.body).toMatchObject({ data: { id: expect.any(String) } })
  expect(answer.status).toBe(201)
  return answer.body.data.id
}

/** Expects that no message was created earlier than the rate allows, counted from the first one. */
export async function expectEven(databaseUrl: string, campaignId: string, intervalMs: number): Promise<void> {
  const { rows } = await sql(databaseUrl).query<{ at: Date }>(
    'select "createdAt" as at from messages where "campaignId" = $1 order by "createdAt"',
    [campaignId],
  )
  const times = rows.map(({ at }) => at.getTime())
  const first = times[0] as number
  expect(times.filter((time, i) => time < first + i * intervalMs - 1).map((time) => time - first)).toEqual([])
}

// The invariants of a database at rest, which must hold whatever was killed, frozen or repeated before.
import type pg from 'pg'
import { planOf } from '../../src/billing/plans.ts'
import { until } from './until.ts'

export interface Expected {
  /** Ids that were acknowledged with a 2xx: each must exist and be at rest. */
  acknowledged?: readonly string[]
  /** The number of outbound messages in all: repeated requests under one idempotency key create one. */
  messages?: number
  withinMs?: number
}

/**
 * Waits until no message is in progress (except those that wait for an instance or for their time), and every event is numbered and has its
 * deliveries.
 */
export async function untilAtRest(pool: pg.Pool, withinMs = 40_000): Promise<void> {
  const query = `select
      (select count(*)::int from messages where direction = 'outbound' and ("waitingSince" is null or "heldBy" is not null) and "dueAt" <= now()
        and (status = 'queued' or status = 'sending')) as open,
      (select count(*)::int from outbox) as unnumbered,
      (select count(*)::int from pgboss.job where name = 'webhook.fan_out' and state < 'completed') as "withoutDeliveries",
      (select count(*)::int from sandbox_steps) as steps`
  await until(
    async () => {
      const { rows } = await pool.query<Record<string, number>>(query)
      if (Object.values(rows[0] as Record<string, number>).some((n) => n > 0)) throw new Error(JSON.stringify(rows[0]))
      return true
    },
    { timeoutMs: withinMs, everyMs: 50 },
  )
}

/** Describes each invariant that is broken, with examples. */
export async function findBroken(pool: pg.Pool, expected: Expected): Promise<string[]> {
  const broken: string[] = []
  for (const [promise, query] of Object.entries(promises)) {
    const { rows } = await pool.query(query)
    if (rows.length > 0) broken.push(`${promise}: ${rows.length}, for example ${JSON.stringify(rows.slice(0, 3))}`)
  }
  const { rows: lost } = await pool.query<{ id: string }>(
    'select id from unnest($1::uuid[]) as a(id) where not exists (select from messages m where m.id = a.id)',
    [expected.acknowledged ?? []],
  )
  if (lost.length > 0) broken.push(`every acknowledged message exists: ${lost.length} are lost, for example ${lost[0]?.id}`)
  if (expected.messages !== undefined) {
    const { rows } = await pool.query<{ n: number }>(`select count(*)::int as n from messages where direction = 'outbound'`)
    if (rows[0]?.n !== expected.messages) broken.push(`${expected.messages} messages are expected, there are ${rows[0]?.n}`)
  }
  const { rows: owners } = await pool.query<{ userId: string; plan: string; used: number }>(
    'select u."userId", s.plan, u."messagesCount" + u."statusesCount" as used from usage u join subscriptions s on s."userId" = u."userId"',
  )
  for (const { userId, plan, used } of owners) {
    if (used > planOf(plan).limits.monthlyOutboundQuota) broken.push(`nobody uses more than the quota: ${userId} used ${used}`)
  }
  return broken
}

const rank = `case type when 'message.sent' then 1 when 'message.delivered' then 2 when 'message.read' then 3 when 'message.failed' then 2 end`

/** The messages of the job `j`, as rows `e`. */
const ofJob = `lateral (select id::uuid from jsonb_array_elements_text(coalesce(j.data->'ids', jsonb_build_array(j.data->'id'))) as x(id)) e`

/** Each query finds the rows that break the invariant in its name. */
const promises: Record<string, string> = {
  'no message is on its way without a job that will bring it': `
    select m.id, m.status, m.attempts from messages m
    where m.direction = 'outbound' and m.status in ('queued', 'sending') and m."acceptedAt" is null and m."waitingSince" is null
      and m.id not in (select e.id from pgboss.job j, ${ofJob} where j.name like 'message.dispatch%' and j.state < 'completed')`,
  'no lease outlives its message': `
    select id, status, "leaseUntil" from messages where status in ('queued', 'cancelled', 'received') and "leaseToken" is not null`,
  // The job of a message that a paused campaign withdrew finds nothing, and ends at once.
  'no job waits for a message that does not exist': `
    select j.id, j.data from pgboss.job j
    where j.name like 'message.dispatch%' and j.state < 'completed' and j.start_after < now() - interval '3 seconds'
      and not exists (select from ${ofJob} join messages m on m.id = e.id)`,
  'the network has each message once, as it was accepted': `
    select m.id, m.status, m.attempts from messages m join instances i on i.id = m."instanceId" and i.provider = 'sandbox'
    left join sandbox_messages s on s.reference = m.id::text and s."instanceId" = m."instanceId" and s."to" = m."to" and s.body = m.body
    where m.direction = 'outbound' and m."acceptedAt" is not null and s.reference is null`,
  // The sandbox also records refused offers: two for a number that ends in 0008 and one for 0010; a message with no other offer
  // may have been withdrawn with its campaign.
  'the network has nothing that nobody sent': `
    select s.reference, s.offers from sandbox_messages s where not exists (select from messages m where m.id::text = s.reference)
      and s.offers > case right(s."to", 4) when '0008' then 2 when '0010' then 1 else 0 end`,
  'what was cancelled never reached the network': `
    select m.id from messages m join sandbox_messages s on s.reference = m.id::text where m.status = 'cancelled'`,
  // Numbers that end in 0008 and 0010 refuse offers, so more than one is made.
  'a network that takes no id of ours is offered nothing twice': `
    select s.reference, s.offers from sandbox_messages s join instances i on i.id = s."instanceId"
    where i.settings->>'clientReferences' = 'false' and s.offers > 1 and right(s."to", 4) not in ('0008', '0010')`,
  'what was never accepted has no receipts': `
    select id, status from messages where direction = 'outbound' and "acceptedAt" is null and ("sentAt" is not null or status in ('sent', 'delivered', 'read'))`,
  'a message has one event for each status': `
    select "messageId", type, count(*) from events where "messageId" is not null group by "messageId", type having count(*) > 1`,
  'the events of a message are the statuses it reached': `
    select m.id, m.status, t.type, t.at, e.seq from messages m cross join lateral (values
      ('message.sent', m."sentAt"), ('message.delivered', m."deliveredAt"), ('message.read', m."readAt"), ('message.failed', m."failedAt")
    ) as t(type, at)
    left join events e on e."messageId" = m.id and e.type = t.type
    where m.direction = 'outbound' and (t.at is null) <> (e.seq is null)`,
  'a message is as far as its furthest event': `
    select m.id, m.status, e.type from messages m join lateral (
      select type from events where "messageId" = m.id and type <> 'message.queued' order by seq desc limit 1
    ) e on true where m.direction = 'outbound' and e.type <> 'message.' || m.status`,
  'the status of a message never moves back': `
    select id, type, rank, before from (
      select "messageId" as id, type, ${rank} as rank, lag(${rank}) over (partition by "messageId" order by seq) as before
      from events where type in ('message.sent', 'message.delivered', 'message.read', 'message.failed')
    ) e where rank <= before`,
  'an event says what it is about': `
    select seq, payload from events where payload->>'event' <> type or payload->>'id' <> id::text
      or (type like 'message.%' and (payload->>'messageId' is distinct from "messageId"::text
        or payload->>'status' <> case type when 'message.received' then 'received' else substr(type, 9) end))`,
  'an inbound message has one event': `
    select m.id, count(e.seq) from messages m left join events e on e."messageId" = m.id and e.type = 'message.received'
    where m.direction = 'inbound' group by m.id having count(e.seq) <> 1`,
  'an instance connects and disconnects in turns': `
    select seq, type, "instanceId" from (
      select *, lag(type) over (partition by "instanceId" order by seq) as before from events where type like 'instance.%'
    ) e where type = before`,
  'event numbers have no gap': `
    select n, first, last, given from (
      select count(*) as n, min(seq) as first, max(seq) as last, (select last from event_sequence) as given from events
    ) e where n > 0 and (last - first + 1 <> n or last <> given)`,
  'used quota is what a recount finds': `
    select * from (
      select w."ownerId" as id, coalesce(c."carriedInto", m."countedPeriod") as period, count(*)::int as n
      from messages m join workspaces w on w.id = m."workspaceId"
      left join usage c on c."userId" = w."ownerId" and c.period = m."countedPeriod"
      where m."countedPeriod" is not null group by 1, 2
    ) counted full join (select * from usage where "carriedInto" is null) u on u."userId" = counted.id and u.period = counted.period
    where coalesce(counted.n, 0) <> coalesce(u."messagesCount", 0)`,
  // Of several attempts one may have reached the network although the last one was refused.
  'what never left gave its quota back, what left or may have left has it': `
    select id, status, error, "acceptedAt", "countedPeriod" from messages where direction = 'outbound'
      and case when "acceptedAt" is not null or error = 'UNKNOWN_OUTCOME' then "countedPeriod" is null
        when status in ('failed', 'cancelled') and attempts < 2 then "countedPeriod" is not null else false end`,
  'each event has one delivery to each endpoint that wants it': `
    select e.seq, w.id from webhook_endpoints w join events e on e."workspaceId" = w."workspaceId" and e.type = any(w.events)
      and e."createdAt" > w."createdAt"
    where w."deletedAt" is null and w."disabledAt" is null
      and not exists (select from webhook_deliveries d where d."eventSeq" = e.seq and d."endpointId" = w.id)`,
  'a delivery makes five attempts at most and ends once': `
    select id, status, attempts, "attemptsLeft" from webhook_deliveries
    where attempts + "attemptsLeft" > 5 and not "byHand" and status <> 'delivered' or (status in ('delivered', 'failed')) <> ("nextAttemptAt" is null)`,
  // Its log has an attempt once that is settled. One that waits to be made again by hand, or was cancelled then, has its old log.
  'a delivery is what its last attempt made of it': `
    select d.id, d.status, d.error, a.attempt, a."responseCode" from webhook_deliveries d
    join webhook_attempts a on a."deliveryId" = d.id and a.attempt = d.attempts
    where not d."byHand" and d.error is distinct from 'endpoint_disabled' and d.error is distinct from 'endpoint_deleted'
      and (d.status = 'delivered') <> (a.error is null)`,
  'a group has as many members as it counts': `
    select g.id, g."membersCount", count(m."contactId") from contact_groups g left join contact_group_members m on m."groupId" = g.id
    group by g.id having g."membersCount" <> count(m."contactId")`,
  'a bulk job counts each contact that it dealt with, and has dealt with all when it is done': `
    select id, status, "requestedCount", "processedCount", summary from bulk_jobs
    where "processedCount" <> (select coalesce(sum(n::int), 0) from jsonb_each_text(summary - 'invalid') s(name, n))
        and not (summary ? 'invalid' and jsonb_array_length(summary->'invalid') > 0)
      or (status = 'done') <> ("processedCount" = "requestedCount") and not (status = 'failed' and "requestedCount" = 0)`,
  'a bulk job that has not ended has its contacts and a job that deals with them, and one that has ended has neither': `
    select b.id, b.status, cardinality(b."contactIds") from bulk_jobs b
    where case when b.status in ('pending', 'processing') then b.operation <> 'import_contacts' and cardinality(b."contactIds") <> b."requestedCount"
        or b."completedAt" is not null
        or not exists (select from pgboss.job j where j.name = 'contact.bulk' and j.state < 'completed' and j.data->>'id' = b.id::text)
      else cardinality(b."contactIds") > 0 or exists (select from import_pieces p where p."jobId" = b.id) or b."completedAt" is null or (b.status = 'failed') <> (b.error is not null) end`,
  'a campaign has the recipients that it was created with': `
    select c.id, c."recipientsCount" from campaigns c
    where c."recipientsCount" <> (select count(distinct r."to") from campaign_recipients r where r."campaignId" = c.id)
      or c."recipientsCount" <> (select count(*) from campaign_recipients r where r."campaignId" = c.id)`,
  'a recipient of a campaign has a message when it says so, and only then; a planned one may keep the id of one that was taken back': `
    select r."campaignId", r."to", r.status, r."messageId", m.id from campaign_recipients r
    left join messages m on m.id = r."messageId" and m."campaignId" = r."campaignId" and m."to" = r."to"
    where (r.status = 'enqueued') <> (m.id is not null)
      or (r.status <> 'planned' and (r.status = 'enqueued') <> (r."messageId" is not null))`,
  'a message of a campaign is that of one recipient': `
    select m.id, m."to", m.status from messages m left join campaign_recipients r on r."campaignId" = m."campaignId" and r."messageId" = m.id
    where m."campaignId" is not null group by m.id having count(r.position) <> 1`,
  'nothing is left of a completed campaign, nothing planned of one that ended, nothing queued of one that does not send': `
    select c.id, c.status, r.status, m.status from campaigns c join campaign_recipients r on r."campaignId" = c.id
    left join messages m on m.id = r."messageId"
    where (c.status = 'completed' and (r.status = 'planned' or m.status in ('queued', 'sending')))
      or (c.status in ('cancelled', 'failed') and r.status = 'planned')
      or (c.status in ('scheduled', 'paused', 'cancelled') and m.status = 'queued')`,
  'a campaign that has something to do has a job': `
    select c.id, c.status from campaigns c where c.status in ('running', 'scheduled') and not exists (
      select from pgboss.job j where j.name = 'campaign.advance' and j.state < 'completed' and j.data->>'id' = c.id::text)`,
  'nothing is of one workspace and about another': `
    select m.id from messages m join instances i on i.id = m."instanceId" where i."workspaceId" <> m."workspaceId"
    union all select c.id from campaigns c join instances i on i.id = c."instanceId" where i."workspaceId" <> c."workspaceId"
    union all select m.id from messages m join campaigns c on c.id = m."campaignId" where c."workspaceId" <> m."workspaceId"
    union all select e.id from events e join instances i on i.id = e."instanceId" where i."workspaceId" <> e."workspaceId"
    union all select g.id from contact_group_members m join contact_groups g on g.id = m."groupId" join contacts c on c.id = m."contactId"
      where g."workspaceId" <> c."workspaceId"`,
}

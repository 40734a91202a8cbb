// SQL of the recipients of campaigns: a page of each of any number of campaigns, with the state of their messages, in one statement.
import type { Sql } from '../core/database/database.ts'
import { keyset, type Place } from '../core/graph/pagination.ts'
import { maxRecipients, type RecipientState } from './policy.ts'
import { campaignsSql } from './progress.sql.ts'

export interface RecipientRow {
  campaignId: string
  /**
   * Place in the list. In the list of all recipients it is the position in the campaign. In the list of one status it is the position
   * too while there is no message, and else the time of the message's last change, in milliseconds since 1970. Every time is greater
   * than every position, so recipients without a message come first.
   */
  place: number
  /** Breaks ties: the message's id, or the campaign's. */
  id: string
  to: string
  contactId: string | null
  messageId: string | null
  status: RecipientState
  error: string | null
  /** Null if nothing has changed since the campaign was created. */
  updatedAt: Date | null
}

/** The statuses of messages whose recipients are in this state. */
function messageStatuses(state: RecipientState): readonly string[] {
  if (state === 'planned') return []
  return state === 'queued' ? ['queued', 'sending'] : [state]
}

export interface RecipientQuery {
  status: RecipientState | null
  /** Only those with this error; null for all of the status. */
  error: string | null
  place: Place
  take: number
}

/** The page of each campaign, in the order of the list. */
export async function readRecipients(
  sql: Sql,
  campaignIds: readonly string[],
  query: RecipientQuery,
): Promise<Map<string, RecipientRow[]>> {
  const values: unknown[] = [...campaignIds]
  const { rows } = await sql.query<RecipientRow>(
    `select p.id as "campaignId", r.* from ${campaignsSql(campaignIds, 0)} as p(id) cross join lateral (
       ${query.status === null ? allSql(query, values) : ofStatusSql(query, query.status, values)}
     ) r order by r.place ${query.place.order}, r.id ${query.place.order}`,
    values,
  )
  return Map.groupBy(rows, (row) => row.campaignId)
}

/** The number of recipients of a campaign with this status and error. Relies on the indexes of {@link ofStatusSql}. */
export async function countWithError(sql: Sql, campaignId: string, status: RecipientState, error: string): Promise<number> {
  const { rows } = await sql.query<{ n: number }>(
    `select ((select count(*) from messages where "campaignId" = $1 and status = $2::text::message_status and error = $3)
       + (select count(*) from campaign_recipients where "campaignId" = $1 and status = $2::text::recipient_status and error = $3))::int as n`,
    [campaignId, status, error],
  )
  return rows[0]?.n ?? 0
}

/** All recipients by position: relies on the primary key of recipients, and on that of messages for the page alone. */
function allSql({ place, take }: RecipientQuery, values: unknown[]): string {
  return `select f.position::float8 as place, p.id, f."to", coalesce(m."contactId", c.id) as "contactId", m.id as "messageId",
      case when m.id is null then f.status::text when m.status = 'sending' then 'queued' else m.status::text end as status,
      coalesce(m.error, f.error) as error, coalesce(m."updatedAt", f."updatedAt") as "updatedAt"
    from (
      select * from campaign_recipients r where ${ownPlace(place, values)} order by r.position ${place.order} limit ${take}
    ) f left join messages m on m.id = f."messageId" left join contacts c on c.id = f."contactId"`
}

/**
 * Those of one status. Relies on the index (campaignId, status, position) of recipients and the index (campaignId, status, updatedAt) of
 * messages, so that a page costs the same among 100,000 recipients, however few have the status.
 */
function ofStatusSql({ error, place, take }: RecipientQuery, status: RecipientState, values: unknown[]): string {
  // With an error, a page may look at all that failed or were cancelled.
  const withError = (alias: string) => (error === null ? '' : `and ${alias}.error = $${values.push(error)}`)
  const parts = messageStatuses(status).map(
    (
      name,
    ) => `(select extract(epoch from m."updatedAt") * 1000 as place, m.id, m."to", m."contactId", m.id as "messageId", m.error,
        m."updatedAt" from messages m where m."campaignId" = p.id and m.status = '${name}' ${withError('m')} ${messagePlace(place, values)}
      order by m."updatedAt" ${place.order}, m.id ${place.order} limit ${take})`,
  )
  // A recipient that is `queued` has a message, whose status counts.
  if (status !== 'queued') {
    // The condition on `status` is a range, so that the order by index needs no other plan when many recipients have the status.
    parts.push(`(select f.position, p.id, f."to", c.id, null::uuid, f.error, f."updatedAt" from (
        select * from campaign_recipients r where ${ownPlace(place, values)} and r.status between '${status}' and '${status}' ${withError('r')}
        order by r.status ${place.order}, r.position ${place.order} limit ${take}
      ) f left join contacts c on c.id = f."contactId")`)
  }
  return `select u.place::float8, u.id, u."to", u."contactId", u."messageId", '${status}' as status, u.error, u."updatedAt"
    from (${parts.join(' union all ')}) as u(place, id, "to", "contactId", "messageId", error, "updatedAt")
    order by u.place ${place.order}, u.id ${place.order} limit ${take}`
}

/** The recipients of the campaign `p` from the place on; a place among the messages is behind every position. */
function ownPlace({ order, bounds }: Place, values: unknown[]): string {
  const positions = bounds.map((bound) => ({ ...bound, value: Math.min(Number(bound.value), maxRecipients + 1) }))
  return ['r."campaignId" = p.id', ...keyset({ order, bounds: positions }, 'r.position', 'r."campaignId"', values)].join(' and ')
}

function messagePlace({ order, bounds }: Place, values: unknown[]): string {
  const times = bounds.map((bound) => ({ ...bound, value: new Date(Number(bound.value)) }))
  return keyset({ order, bounds: times }, 'm."updatedAt"', 'm.id', values)
    .map((condition) => `and ${condition}`)
    .join(' ')
}

// SQL of the counts of messages by day.
import type { Sql } from '../core/database/database.ts'

export interface Counts {
  sent: number
  delivered: number
  read: number
  failed: number
  received: number
}

export interface CountedDay extends Counts {
  workspaceId: string
  instanceId: string
  /** `YYYY-MM-DD`, UTC. */
  day: string
}

/** Adds to the counts. The relay is the only writer, so no rows are locked in two orders. */
export async function addToDays(tx: Sql, days: readonly CountedDay[]): Promise<void> {
  await tx.query({
    name: 'messages.days.add',
    text: `insert into message_days as d ("workspaceId", "instanceId", day, sent, delivered, read, failed, received)
      select * from unnest($1::uuid[], $2::uuid[], $3::date[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[])
      on conflict ("workspaceId", day, "instanceId") do update set sent = d.sent + excluded.sent, delivered = d.delivered + excluded.delivered,
        read = d.read + excluded.read, failed = d.failed + excluded.failed, received = d.received + excluded.received`,
    values: (['workspaceId', 'instanceId', 'day', 'sent', 'delivered', 'read', 'failed', 'received'] as const).map((name) =>
      days.map((day) => day[name]),
    ),
  })
}

export type Day = Counts & Pick<CountedDay, 'day'>

/**
 * The last `last` days (UTC) of all workspaces that an owner pays for, or of one instance in them, oldest first. Days without messages are zeros.
 * It reads the rows of these days alone (primary key: workspace, day, instance).
 */
export async function readDays(sql: Sql, ownerId: string, last: number, instanceId: string | null): Promise<Day[]> {
  const { rows } = await sql.query<Day>({
    name: instanceId ? 'messages.days.instance' : 'messages.days.read',
    text: `select g.day::date::text as day, coalesce(sum(d.sent), 0)::int as sent, coalesce(sum(d.delivered), 0)::int as delivered,
        coalesce(sum(d.read), 0)::int as read, coalesce(sum(d.failed), 0)::int as failed, coalesce(sum(d.received), 0)::int as received
      from (select (now() at time zone 'utc')::date - i as day from generate_series(0, $2::int - 1) i) g
      left join (
        select d.* from workspaces w join message_days d on d."workspaceId" = w.id
        where w."ownerId" = $1 and d.day > (now() at time zone 'utc')::date - $2::int ${instanceId ? 'and d."instanceId" = $3' : ''}
      ) d on d.day = g.day
      group by g.day order by g.day`,
    values: instanceId ? [ownerId, last, instanceId] : [ownerId, last],
  })
  return rows
}

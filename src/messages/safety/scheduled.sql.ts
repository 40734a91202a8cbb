// SQL of the messages that are scheduled, by the day on which they leave.
import type { Sql } from '../../core/database/database.ts'

/** Most messages of an instance that are counted. */
const most = 200_000

/**
 * The messages of each instance that are scheduled for each of the `days` times 24 hours from `from` on; days without any are zeros. Relies
 * on the index of scheduled messages (instanceId, dueAt).
 */
export async function countScheduled(sql: Sql, instanceIds: readonly string[], from: Date, days: number): Promise<number[][]> {
  const { rows } = await sql.query<{ position: number; day: number; n: number }>({
    name: 'messages.scheduled_days',
    text: `select i.position::int - 1 as position, d.day, d.n
      from unnest($1::uuid[]) with ordinality as i(id, position), lateral (
        select floor(extract(epoch from s."dueAt" - $2::timestamptz) / 86400)::int as day, count(*)::int as n from (
          select "dueAt" from messages where "instanceId" = i.id and "scheduledAt" is not null and status = 'queued'
            and "dueAt" >= $2 and "dueAt" < $2 + $3 * interval '1 day'
          limit ${most}
        ) s group by 1
      ) d`,
    values: [instanceIds, from, days],
  })
  const counts = instanceIds.map(() => new Array<number>(days).fill(0))
  for (const { position, day, n } of rows) (counts[position] as number[])[day] = n
  return counts
}

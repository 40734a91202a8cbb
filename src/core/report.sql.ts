// SQL of the report: the one process whose /metrics has the figures of the whole installation.
import type { Sql } from './database/database.ts'

/** A process that is not asked for this long loses the report to the next that is asked. Longer than scrapes are apart. */
const heldSeconds = 90

/** Takes the report, or keeps it. Returns false while another process has it. */
export async function takeReport(sql: Sql, reporter: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `insert into metrics_report (id, reporter, until) values (1, $1, now() + make_interval(secs => $2))
     on conflict (id) do update set reporter = excluded.reporter, until = excluded.until
       where metrics_report.reporter = excluded.reporter or metrics_report.until < now()`,
    [reporter, heldSeconds],
  )
  return rowCount === 1
}

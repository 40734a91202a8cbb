// Counts the rows that statements read, by the plans that PostgreSQL makes for any values, as it keeps them for prepared statements.
import pg from 'pg'

interface Plan {
  'Node Type': string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Plan[]
}

/** The rows that the scans of a plan read, those of indexes among them. */
function ofPlan({ Plans = [], ...plan }: Plan): number {
  const below = Plans.reduce((sum, each) => sum + ofPlan(each), 0)
  if (!/^(Seq|Index|Index Only|Bitmap Index|Bitmap Heap) Scan$/.test(plan['Node Type'])) return below
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)
  return below + (plan['Actual Rows'] + removed) * plan['Actual Loops']
}

/** Prepares each statement, runs it with its values, and returns the sum of the rows that were read. */
export async function rowsRead(
  pool: pg.Pool,
  statements: readonly { text: string; values?: unknown[] | undefined }[],
): Promise<number> {
  const client = await pool.connect()
  let sum = 0
  try {
    await client.query('set plan_cache_mode = force_generic_plan')
    for (const { text, values = [] } of statements) {
      await client.query(`prepare examined as ${text}`)
      const list = values.map((value) => (value === null ? 'null' : pg.escapeLiteral(toText(value)))).join(', ')
      const { rows } = await client.query(`explain (analyze, format json) execute examined${list && `(${list})`}`)
      await client.query('deallocate examined')
      sum += ofPlan(rows[0]['QUERY PLAN'][0].Plan)
    }
  } finally {
    client.release(true)
  }
  return sum
}

function toText(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  return Array.isArray(value) ? `{${value.map(toText).join(',')}}` : String(value)
}

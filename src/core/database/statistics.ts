// Analyzes each table as soon as it has some rows, and whenever their number has doubled. Autovacuum does it within a minute or more; until then,
// statements keep the plans that they got while the tables were empty: with 15,000 messages of one instance, a claim read all of them (13 ms in
// place of 0.1 ms). They also expect one row of an owner that has just got 30,000.
import type { App } from '../app.ts'
import { startLoop, wait } from '../loop.ts'
import { readUnanalyzed } from './statistics.sql.ts'

const everyMs = 5_000
/** Fewer rows take no time, whatever the plan. */
const fewRows = 500

/** Runs until disposed of. */
export function startAnalyzing({ pool, log }: Pick<App, 'pool' | 'log'>): AsyncDisposable {
  return startLoop(async (stop) => {
    while (!stop.aborted) {
      try {
        for (const statement of await readUnanalyzed(pool, fewRows)) await pool.query(statement)
      } catch (error) {
        log.debug({ err: (error as Error).message }, 'new tables could not be analyzed')
      }
      await wait(everyMs, stop)
    }
  })
}

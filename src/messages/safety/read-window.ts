// Reads windows that no cache keeps, for health and for previews.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { minuteMs } from '../../core/durations.ts'
import { readSums, readTraffic } from './traffic.sql.ts'
import { spanAround, type Window, windowAt, windowOf } from './window.ts'

/** The windows of instances, with their sums at `at` and the recipients among `numbers`. */
export async function readWindows(
  { config }: App,
  sql: Sql,
  instanceIds: readonly string[],
  at: Date,
  numbers: readonly string[],
): Promise<Map<string, Window>> {
  const rows = await readSums(sql, instanceIds, at, numbers, config.messageTtlMs)
  return new Map(rows.map((row) => [row.instanceId, windowAt(row, at)]))
}

/** {@link readWindows} of one instance. */
export async function readWindow(app: App, sql: Sql, instanceId: string, at: Date, numbers: readonly string[]): Promise<Window> {
  return (await readWindows(app, sql, [instanceId], at, numbers)).get(instanceId) ?? missing(instanceId)
}

/** The window of an instance with all its recipients, for every minute from `from` to `to`. */
export async function readWholeWindow({ config }: App, sql: Sql, instanceId: string, from: Date, to: Date): Promise<Window> {
  const span = spanAround(instanceId, from, Math.ceil((to.getTime() - from.getTime()) / minuteMs))
  const [rows = missing(instanceId)] = await readTraffic(sql, [span], config.messageTtlMs)
  return windowOf(rows, span)
}

function missing(instanceId: string): never {
  throw new Error(`no instance ${instanceId}`)
}

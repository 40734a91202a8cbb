// Estimates how many messages campaigns send on each of the next days.
import type { App } from '../core/app.ts'
import { dayMs } from '../core/durations.ts'
import { assess, idle } from '../instances/safety.ts'
import { type PlannedRow, readForecast } from './forecast.sql.ts'
import { defaultRates } from './pace.ts'
import { type QuietHours, quietHoursOf, quietMinutes } from './quiet-hours.ts'

const dayMinutes = 24 * 60

export interface Plan {
  /** Recipients without a message. */
  planned: number
  /** Messages a minute; null without a limit. */
  rate: number | null
  startsAt: Date
  quiet: QuietHours | null
}

/** The messages of each of the `days` times 24 hours from `from` on. Quiet hours shorten each day alike, wherever in it they are. */
export function spread({ planned, rate, startsAt, quiet }: Plan, from: Date, days: number): number[] {
  const counts = new Array<number>(days).fill(0)
  const aDay = rate === null ? Number.POSITIVE_INFINITY : rate * (dayMinutes - (quiet ? quietMinutes(quiet) : 0))
  const start = Math.max(0, startsAt.getTime() - from.getTime()) / dayMs
  let left = planned
  for (let day = Math.floor(start); day < days && left > 0; day++) {
    const share = Math.min(1, day + 1 - start)
    counts[day] = Math.min(left, Math.ceil(aDay * share))
    left -= counts[day] as number
  }
  return counts
}

/** Implements `Hooks.plannedSends` (core/app.ts). */
export async function plannedSends(app: App, instanceIds: readonly string[], from: Date, days: number): Promise<number[][]> {
  const rows = Map.groupBy(await readForecast(app.pool, instanceIds), ({ instanceId }) => instanceId)
  return instanceIds.map((id) => {
    const each = (rows.get(id) ?? []).map((row) => spread(planOf(row, from), from, days))
    return Array.from({ length: days }, (_, n) => each.reduce((sum, counts) => sum + (counts[n] ?? 0), 0))
  })
}

/** The rate of a campaign without one of its own is that of the state that its instance has by its age. */
function planOf(
  { planned, provider, ratePerMinute, scheduledFor, nextAt, quietHours, ...standing }: PlannedRow,
  from: Date,
): Plan {
  const byState = provider === 'sandbox' ? null : defaultRates[assess(standing, idle, from).state]
  return {
    planned,
    rate: ratePerMinute ?? byState,
    startsAt: new Date(Math.max(scheduledFor?.getTime() ?? 0, nextAt?.getTime() ?? 0)),
    quiet: quietHoursOf(quietHours),
  }
}

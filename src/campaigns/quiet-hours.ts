// Quiet hours of a campaign: the hours of a day, in a time zone, in which nothing of it leaves.
import { DateTime, IANAZone } from 'luxon'
import { z } from 'zod'
import { minuteMs } from '../core/durations.ts'
import { text } from '../core/validation.ts'

const dayMinutes = 24 * 60

const hour = (description: string) =>
  z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time as HH:MM, from 00:00 to 23:59')
    .describe(description)

export const quietHours = z
  .object({
    from: hour('When they begin, as HH:MM.'),
    to: hour('When they end, as HH:MM; an earlier time than `from` is on the next day.'),
    timeZone: text(1, 100)
      // An offset such as +02:00 is no zone: it knows no daylight saving.
      .refine(
        (zone) => /^[A-Za-z]/.test(zone) && IANAZone.isValidZone(zone),
        'must be an IANA time zone, for example Europe/Rome',
      )
      .describe('Their IANA time zone, for example `Europe/Rome`.'),
  })
  .refine(({ from, to }) => from !== to, { message: 'must differ from `from`', path: ['to'] })
  .meta({ id: 'QuietHoursInput', description: 'Hours of the day in which nothing of a campaign leaves.' })

export type QuietHours = z.output<typeof quietHours>

/** The end of the quiet hours that `now` is in; null if it is in none. */
export function quietUntil(quiet: QuietHours | null, now: Date): Date | null {
  if (!quiet) return null
  const local = DateTime.fromJSDate(now, { zone: quiet.timeZone })
  return isQuiet(quiet, local) ? nextChange(quiet, local).toJSDate() : null
}

/** How many minutes of a day they take. */
export function quietMinutes({ from, to }: QuietHours): number {
  return (minutesOf(to) - minutesOf(from) + dayMinutes) % dayMinutes
}

/** When the next quiet hours after `now` begin; null if there are none. */
export function nextQuiet(quiet: QuietHours | null, now: Date): Date | null {
  if (!quiet) return null
  const local = DateTime.fromJSDate(now, { zone: quiet.timeZone })
  return nextChange(quiet, isQuiet(quiet, local) ? nextChange(quiet, local) : local).toJSDate()
}

function isQuiet(quiet: QuietHours, local: DateTime): boolean {
  const [from, to, at] = [minutesOf(quiet.from), minutesOf(quiet.to), minuteAt(local)]
  return from < to ? from <= at && at < to : from <= at || at < to
}

/** The next time at which quiet hours begin or end: when the clock shows it, or when the clocks change over it. */
function nextChange(quiet: QuietHours, local: DateTime): DateTime {
  const before = isQuiet(quiet, local)
  const minute = minutesOf(before ? quiet.to : quiet.from)
  const shown = whenShown(minute, local)
  if (shown.offset === local.offset) return shown
  const changed = clockChange(local, shown)
  return isQuiet(quiet, changed) === before ? whenShown(minute, changed) : changed
}

/** When the clock shows that minute of the day, unless it is put forward or back before. */
function whenShown(minute: number, local: DateTime): DateTime {
  const inMinutes = (minute - minuteAt(local) + dayMinutes) % dayMinutes
  return minuteOf(local.toMillis() + inMinutes * minuteMs, local)
}

/** The minute at which the clocks change between `local` and `last`, a whole minute with the new offset. A binary search. */
function clockChange(local: DateTime, last: DateTime): DateTime {
  let [before, after] = [local.toMillis(), last]
  while (after.toMillis() - before > minuteMs) {
    const middle = minuteOf((before + after.toMillis()) / 2, local)
    if (middle.offset === last.offset) after = middle
    else before = middle.toMillis()
  }
  return after
}

/** The beginning of the minute that `ms` is in. */
function minuteOf(ms: number, { zone }: DateTime): DateTime {
  return DateTime.fromMillis(Math.floor(ms / minuteMs) * minuteMs, { zone })
}

function minuteAt({ hour, minute }: DateTime): number {
  return hour * 60 + minute
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * 60 + minutes
}

/** The column of a campaign, which holds what {@link quietHours} has checked. */
export function quietHoursOf(column: unknown): QuietHours | null {
  return column as QuietHours | null
}

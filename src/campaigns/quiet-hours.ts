// Quiet hours of a campaign: the hours of a day, in a time zone, in which nothing of it leaves.
import { DateTime, IANAZone } from 'luxon'
import { z } from 'zod'
import { text } from '../core/validation.ts'

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
  const [from, to, at] = [minutesOf(quiet.from), minutesOf(quiet.to), minuteAt(local)]
  const isQuiet = from < to ? from <= at && at < to : from <= at || at < to
  if (!isQuiet) return null
  return momentOf(at < to ? local : local.plus({ days: 1 }), to)
}

/** How many minutes of a day they take. */
export function quietMinutes({ from, to }: QuietHours): number {
  return (minutesOf(to) - minutesOf(from) + 24 * 60) % (24 * 60)
}

/** When the next quiet hours after `now` begin; null if there are none. */
export function nextQuiet(quiet: QuietHours | null, now: Date): Date | null {
  if (!quiet) return null
  const local = DateTime.fromJSDate(now, { zone: quiet.timeZone })
  const from = minutesOf(quiet.from)
  return momentOf(minuteAt(local) < from ? local : local.plus({ days: 1 }), from)
}

/** When the clock shows that minute of the day. If the clocks skip it, the moment at which they are put forward. */
function momentOf(day: DateTime, minute: number): Date {
  let moment = day.set({ hour: Math.floor(minute / 60), minute: minute % 60, second: 0, millisecond: 0 })
  if (minuteAt(moment) === minute) return moment.toJSDate()
  // Luxon returns a time as long after the skipped one as the clocks are put forward.
  for (let before = moment; before.hasSame(moment, 'day') && minuteAt(before) > minute; before = before.minus({ minutes: 1 })) {
    moment = before
  }
  return moment.toJSDate()
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

// Shows every time of the console, in the zone that the reader chose.
import { useSyncExternalStore } from 'react'
import { shownZone } from '../preferences.ts'
import { locale } from '../words/words.ts'

const formats = new Map<string, Intl.DateTimeFormat>()

function format(name: string, options: Intl.DateTimeFormatOptions, at: Date): string {
  const key = `${name} ${shownZone()}`
  let made = formats.get(key)
  if (!made) {
    made = new Intl.DateTimeFormat(locale, { ...options, timeZone: shownZone() })
    formats.set(key, made)
  }
  return made.format(at)
}

const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const
const day = { day: 'numeric', month: 'short' } as const

/** The date and time with the zone, for what must not be misread. */
export function exactTime(at: string): string {
  return format('exact', { ...day, year: 'numeric', ...clock, timeZoneName: 'short' }, new Date(at))
}

function calendarDay(at: Date): string {
  return format('day', { dateStyle: 'short' }, at)
}

/** Today only the clock, else the day with it, and in other years the year. */
export function shortTime(at: string, now = new Date()): string {
  const date = new Date(at)
  if (calendarDay(date) === calendarDay(now)) return format('clock', clock, date)
  const yearOf = (time: Date) => format('year', { year: 'numeric' }, time)
  const options = { ...day, ...clock, second: undefined }
  if (yearOf(date) === yearOf(now)) return format('day and clock', options, date)
  return format('year and clock', { ...options, year: 'numeric' }, date)
}

/** The day alone. */
export function dayOf(at: string): string {
  return format('day alone', day, new Date(at))
}

function today(): string {
  return calendarDay(new Date())
}

/** React compares {@link today} with the day that it knows. */
function followDay(look: () => void): () => void {
  const timer = setInterval(look, 2_000)
  return () => clearInterval(timer)
}

export function Time({ at, exact = false }: { at: string; exact?: boolean }) {
  // A clock alone would be read as one of the day that has begun.
  useSyncExternalStore(followDay, today)
  return (
    <time dateTime={at} title={`${exactTime(at)}\n${at}`}>
      {exact ? exactTime(at) : shortTime(at)}
    </time>
  )
}

/** `80 ms`, `2.4 s`, `3 min`, `5 h`, `2 d`. */
export function duration(ms: number): string {
  const unit = (value: number, name: string, digits = 0) =>
    new Intl.NumberFormat(locale, {
      style: 'unit',
      unit: name,
      unitDisplay: 'short',
      maximumFractionDigits: digits,
    }).format(value)
  if (ms < 1_000) return unit(Math.max(0, ms), 'millisecond')
  if (ms < 60_000) return unit(ms / 1_000, 'second', 1)
  if (ms < 3_600_000) return unit(ms / 60_000, 'minute', 1)
  return ms < 86_400_000 ? unit(ms / 3_600_000, 'hour', 1) : unit(ms / 86_400_000, 'day', 1)
}

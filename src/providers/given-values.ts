// Numbers and times as networks write them: as numbers or as texts, and not always right.
import { dayMs } from '../core/durations.ts'

export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** A time in seconds since 1970. Times that cannot be right become the present. */
export function timeOf(value: unknown, now = Date.now()): Date {
  const ms = (numberOf(value) ?? Number.NaN) * 1_000
  return new Date(ms > 0 && ms <= now + dayMs ? ms : now)
}

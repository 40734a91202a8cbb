// Reads values of a webhook whose shape nobody guarantees: anything of another form counts as left out.
import { dayMs } from '../../core/durations.ts'

export type Fields = Readonly<Record<string, unknown>>

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A text of at least one character. Numbers count as text, because Meta's examples write ids in both ways. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

const longestId = 256

/** An id of the network. Longer ones and those with control characters are none. */
export function idOf(value: unknown): string | undefined {
  const id = textOf(value)
  return id !== undefined && id.length <= longestId && /^[\x21-\x7e]+$/.test(id) ? id : undefined
}

/** A time in seconds since 1970. Times that cannot be right become the present. */
export function timeOf(value: unknown, now = Date.now()): Date {
  const ms = (numberOf(value) ?? Number.NaN) * 1_000
  return new Date(ms > 0 && ms <= now + dayMs ? ms : now)
}

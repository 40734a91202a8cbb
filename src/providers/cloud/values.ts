// Reads values of JSON that Meta sends, whose shape nobody guarantees: anything of another form counts as left out.
import { storable } from '../../core/storable.ts'

export type Fields = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function objectsIn(value: unknown): Fields[] {
  return listOf(value).filter(isObject)
}

/** A text, as it can be stored, of at least one character. Numbers count as text, because Meta's examples write ids in both ways. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return (typeof value === 'string' && storable(value)) || undefined
}

const longestId = 256

/** An id of the network. Longer ones and those with control characters are none. */
export function idOf(value: unknown): string | undefined {
  const id = textOf(value)
  return id !== undefined && id.length <= longestId && /^[\x21-\x7e]+$/.test(id) ? id : undefined
}

// Request bodies: JSON in UTF-8 and nothing else, of bounded depth, without the name that reaches for a prototype.
import { failure } from './errors.ts'

/** The content types of JSON, which is UTF-8 whether it says so or not. */
export const jsonType = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Deeper than any input here, and far from what would exhaust a stack that walks it. */
const maxDepth = 64

/** @throws VALIDATION_ERROR, which speaks of `name`, for anything else than one JSON value. */
export function parseJson(bytes: Uint8Array, name = 'body'): unknown {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw failure('VALIDATION_ERROR', `${name}: is not valid JSON`)
  }
  refuseShapes(value, name)
  return value
}

/**
 * Refuses what no input here looks like; without recursion, because how deep the value is is what it finds out.
 * @throws VALIDATION_ERROR, which speaks of `name`.
 */
export function refuseShapes(value: unknown, name: string): void {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) throw failure('VALIDATION_ERROR', `${name}: must not be nested more than ${maxDepth} deep`)
    const next: unknown[] = []
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue
      if (Object.hasOwn(item, '__proto__')) throw failure('VALIDATION_ERROR', `${name}: must not name __proto__`)
      for (const inner of Object.values(item)) if (typeof inner === 'object' && inner !== null) next.push(inner)
    }
    level = next
  }
}

// Parses JSON request bodies in UTF-8, of bounded depth and size, without the field name `__proto__`.
import { failure } from '../errors.ts'
import { JsonPieces } from './json-pieces.ts'
import { forbidden, JsonFault, maxDepth } from './json-scan.ts'

/** Content types of JSON, which is UTF-8 with or without a charset parameter. */
export const jsonType = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i

/**
 * Most values of one body: its members and items, and each object and list as five. They decide what a body costs, not its bytes:
 * 1 MiB of text is parsed in 1 ms, 1 MiB of `[],[],…` in 25 ms, and it takes 20 times its size in memory.
 */
export const maxValues = {
  /** 26,900 ids fit into 1 MiB. */
  ordinary: 100_000,
  /** 1,000 messages with 50 variables and a list of ten rows each. */
  bulk: 400_000,
  /** 100,000 recipients with five variables each. */
  campaign: 2_400_000,
} as const

export interface JsonOptions {
  /** Name of the value in errors; by default `body`. */
  name?: string
  /** Limit on the values that it may hold; by default `ordinary`. */
  values?: keyof typeof maxValues
}

/** @throws VALIDATION_ERROR when the bytes are anything other than one JSON value within the limits. */
export function parseJson(bytes: Buffer, options: JsonOptions = {}): unknown {
  const reading = openJson(options)
  reading.write(bytes)
  return reading.end()
}

/** An incremental parse of one JSON value. */
export interface JsonReading {
  /** Parses the next bytes. @throws VALIDATION_ERROR when the value is out of bounds or cannot become valid. */
  write: (block: Buffer) => void
  /** Ends the input and returns the value. @throws VALIDATION_ERROR when the value is incomplete or malformed. */
  end: () => unknown
}

export function openJson({ name = 'body', values = 'ordinary' }: JsonOptions = {}): JsonReading {
  let pieces = new JsonPieces(maxValues[values])
  function named<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      // V8 keeps the functions of an error's stack alive, so the parsed values are dropped with the parser.
      pieces = new JsonPieces(0)
      if (!(error instanceof JsonFault)) throw error
      throw failure('VALIDATION_ERROR', `${name}: ${error.message}`)
    }
  }
  return { write: (block) => named(() => pieces.write(block)), end: () => named(() => pieces.end()) }
}

/**
 * Applies the same limits of depth and names to a value that was not parsed from a body, without recursion.
 * @throws VALIDATION_ERROR when the value is nested too deeply or has a field `__proto__`; the message refers to it as `name`.
 */
export function refuseShapes(value: unknown, name: string): void {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) throw failure('VALIDATION_ERROR', `${name}: must not be nested more than ${maxDepth} levels deep`)
    const next: unknown[] = []
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue
      if (Object.hasOwn(item, forbidden)) throw failure('VALIDATION_ERROR', `${name}: must not name ${forbidden}`)
      for (const inner of Object.values(item)) if (typeof inner === 'object' && inner !== null) next.push(inner)
    }
    level = next
  }
}

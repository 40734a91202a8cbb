// Request bodies: JSON in UTF-8 of bounded depth and size, without the name that reaches for a prototype.
import { failure } from './errors.ts'
import { ownTurn } from './turns.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How many values a body of the route may hold; `ordinary` where it is left out. */
    values?: keyof typeof maxValues
  }
}

/** The content types of JSON, which is UTF-8 whether it says so or not. */
export const jsonType = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i

/**
 * The most values of one body: its objects, lists, members and items. They decide what a body costs, not its bytes: 1 MiB of
 * text is parsed in 1 ms, 1 MiB of `[],[],…` in 25 ms, and it takes 20 times its size in memory.
 */
export const maxValues = {
  /** 26,900 ids fit into 1 MiB. */
  ordinary: 100_000,
  /** 1,000 messages with 50 variables each. */
  bulk: 250_000,
  /** 100,000 recipients with five variables each. */
  campaign: 2_000_000,
} as const

/** Deeper than any input here, and far from what would exhaust a stack that walks it. */
const maxDepth = 64
/**
 * The most fields of all objects together, those of like objects counted once. V8 makes a hidden class for each field that follows
 * others for the first time, which takes 2.5 µs: 900,000 fields of objects that are all different kept the event loop for 2.3 s,
 * as many of 100,000 like recipients for 65 ms.
 */
const maxFields = 50_000
/**
 * A longer body waits for a turn of the event loop of its own. 16 KiB hold 2,000 items, which take at most 20 ms to parse and
 * to judge.
 */
const longBytes = 16 * 1024

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const forbidden = '__proto__'

export interface JsonOptions {
  /** How errors call the value; `body` where it is left out. */
  name?: string
  /** How many values it may hold; `ordinary` where it is left out. */
  values?: keyof typeof maxValues
}

/** @throws VALIDATION_ERROR for anything else than one JSON value within the bounds. */
export function parseJson(bytes: Uint8Array, { name = 'body', values = 'ordinary' }: JsonOptions = {}): unknown {
  const fault = faultOfShape(bytes, maxValues[values])
  if (fault) throw failure('VALIDATION_ERROR', `${name}: ${fault}`)
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw failure('VALIDATION_ERROR', `${name}: is not valid JSON`)
  }
}

/** As {@link parseJson}, for bodies of any length: long ones are parsed one after the other, and others are served in between. */
export async function readJson(bytes: Uint8Array, options?: JsonOptions): Promise<unknown> {
  if (bytes.length > longBytes) await ownTurn()
  return parseJson(bytes, options)
}

/**
 * Finds bodies that would be expensive to parse, from their bytes alone, at about 2 ns a byte. Null for a body that is worth
 * parsing, valid or not.
 */
function faultOfShape(bytes: Uint8Array, most: number): string | null {
  /** Of each open object or list: how many members it has, and a hash of their names in their order. */
  const members: number[] = []
  const hashes: number[] = []
  const shapes = new Set<number>()
  let fields = 0
  let values = 0
  let depth = 0
  let start = 0
  let end = 0
  let escaped = false
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case 0x22 /* " */:
        start = at + 1
        escaped = false
        for (at++; at < bytes.length && bytes[at] !== 0x22; at++) {
          if (bytes[at] !== 0x5c /* \ */) continue
          escaped = true
          at++
        }
        end = at
        break
      case 0x5b /* [ */:
      case 0x7b /* { */:
        if (++depth > maxDepth) return `must not be nested more than ${maxDepth} deep`
        members[depth] = 0
        hashes[depth] = 0
        values++
        break
      case 0x7d /* } */:
      case 0x5d /* ] */:
        {
          const shape = hashes[depth] ?? 0
          if (shape !== 0 && !shapes.has(shape)) {
            shapes.add(shape)
            fields += members[depth] ?? 0
          }
          depth--
          break
        }
      case 0x2c /* , */:
        values++
        break
      case 0x3a /* : */:
        values++
        if (isForbidden(bytes.subarray(start, end), escaped)) return `must not name ${forbidden}`
        members[depth] = (members[depth] ?? 0) + 1
        hashes[depth] = hashOf(bytes, start, end, hashes[depth] ?? 0)
        break
    }
    if (values > most) return `must not hold more than ${most} values`
    if (fields > maxFields || (members[depth] ?? 0) > maxFields) return `must not hold more than ${maxFields} different fields`
  }
  return null
}

/** FNV-1a of a name, going on from what came before it; never 0. */
function hashOf(bytes: Uint8Array, start: number, end: number, before: number): number {
  let hash = before ^ 0x811c9dc5
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  return hash | 1
}

/** Whether a member's name, as it stands between its quotes, is the one that reaches for a prototype. */
function isForbidden(name: Uint8Array, escaped: boolean): boolean {
  const longest = forbidden.length * (escaped ? 6 : 1)
  if (name.length < forbidden.length || name.length > longest) return false
  const text = Buffer.from(name.buffer, name.byteOffset, name.length).toString('latin1')
  if (!escaped) return text === forbidden
  try {
    return JSON.parse(`"${text}"`) === forbidden
  } catch {
    return false
  }
}

/**
 * Refuses the same shapes in a value that was not parsed from a body, without recursion.
 * @throws VALIDATION_ERROR, which speaks of `name`.
 */
export function refuseShapes(value: unknown, name: string): void {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) throw failure('VALIDATION_ERROR', `${name}: must not be nested more than ${maxDepth} deep`)
    const next: unknown[] = []
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue
      if (Object.hasOwn(item, forbidden)) throw failure('VALIDATION_ERROR', `${name}: must not name ${forbidden}`)
      for (const inner of Object.values(item)) if (typeof inner === 'object' && inner !== null) next.push(inner)
    }
    level = next
  }
}

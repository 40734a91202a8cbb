// Refuses lists that are too long by their length alone, before any item is validated.
import { z } from 'zod'

/** Lists up to this length are validated in full, which costs little, so that their refusal names all other faults as well. */
const shortList = 1_000
/** Most items of a list whose schema has no bound: more ids than fit into a body of 1 MiB. */
const longestList = 30_000

type Check = (value: unknown, path: string) => string | null

const checks = new WeakMap<z.ZodType, Check>()
const passes: Check = () => null

/** Returns the fault of the first list in `value` that is longer than its schema allows, as `path: must have at most N items`, or null. */
export function faultOfLength(schema: z.ZodType, value: unknown): string | null {
  return checkOf(schema)(value, '')
}

/** The same as {@link faultOfLength}, for a list without a schema. */
export function faultOfLongest(value: unknown, path: string): string | null {
  return Array.isArray(value) && value.length > longestList ? tooLong(path, longestList) : null
}

function tooLong(path: string, most: number): string {
  return `${path}: must have at most ${most} items`
}

function checkOf(schema: z.ZodType): Check {
  const known = checks.get(schema)
  if (known) return known
  const made = makeCheck(schema)
  checks.set(schema, made)
  return made
}

function makeCheck(schema: z.ZodType): Check {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return checkOf(schema.unwrap() as z.ZodType)
  if (schema instanceof z.ZodPipe) return checkOf(schema.in as z.ZodType)
  if (schema instanceof z.ZodArray) return checkOfList(schema)
  if (schema instanceof z.ZodObject) return checkOfObject(schema)
  return passes
}

function checkOfList(schema: z.ZodArray): Check {
  const checks = (schema.def.checks ?? []).map((check) => check._zod.def as { check: string; maximum?: number })
  const maximum = checks.find(({ check }) => check === 'max_length')?.maximum ?? longestList
  const most = Math.max(maximum, shortList)
  const item = checkOf(schema.element as z.ZodType)
  return (value, path) => {
    if (!Array.isArray(value)) return null
    if (value.length > most) return tooLong(path, maximum)
    if (item === passes) return null
    for (const [index, one] of value.entries()) {
      const fault = item(one, `${path}.${index}`)
      if (fault) return fault
    }
    return null
  }
}

function checkOfObject(schema: z.ZodObject): Check {
  const fields = Object.entries(schema.shape)
    .map(([name, type]) => [name, checkOf(type as z.ZodType)] as const)
    .filter(([, check]) => check !== passes)
  if (fields.length === 0) return passes
  return (value, path) => {
    if (typeof value !== 'object' || value === null) return null
    for (const [name, check] of fields) {
      const fault = check((value as Record<string, unknown>)[name], path === '' ? name : `${path}.${name}`)
      if (fault) return fault
    }
    return null
  }
}

// Prepares REST bodies for the graph, which refuses unknown fields and accepts a single value in place of a list.
import { z } from 'zod'
import type { Config } from '../config/config.ts'
import { fail } from '../errors.ts'
import { parse } from '../validation.ts'
import { inputs, isRefused } from './input.ts'
import { faultOfLength } from './long-lists.ts'

/**
 * Removes the fields of a body that its input does not know, because REST ignores them.
 * @throws VALIDATION_ERROR when a list is far too long, before any item is validated, or when a single value stands in place of a
 * list, because GraphQL would make a list of it.
 */
export function stripFields(config: Config, inputName: string, value: unknown): unknown {
  const input = inputs.get(inputName)
  if (!input) return value
  const tooLong = faultOfLength(input.schema, value)
  if (tooLong) fail('VALIDATION_ERROR', tooLong)
  const stripped = stripBy(input.schema, value)
  if (hasLooseList(input.schema, stripped)) parse(input.schemaFor(config), stripped)
  return stripped
}

/** True if a single value stands in place of a list. */
function hasLooseList(schema: z.ZodType, value: unknown): boolean {
  if (value === undefined || value === null) return false
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return hasLooseList(schema.unwrap() as z.ZodType, value)
  if (schema instanceof z.ZodArray) {
    return !Array.isArray(value) || value.some((item) => hasLooseList(schema.element as z.ZodType, item))
  }
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object') return false
  return Object.entries(value).some(([name, item]) => hasLooseList(schema.shape[name] as z.ZodType, item))
}

function stripBy(schema: z.ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return stripBy(schema.unwrap() as z.ZodType, value)
  if (schema instanceof z.ZodArray && Array.isArray(value)) return value.map((item) => stripBy(schema.element as z.ZodType, item))
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const given = value as Record<string, unknown>
  const stripped: Record<string, unknown> = {}
  // A loop without intermediate lists, because it runs for each REST request.
  for (const name in schema.shape) {
    if (!Object.hasOwn(given, name)) continue
    const type = schema.shape[name] as z.ZodType
    // A field that exists only to be refused is not in the graph. REST takes null for it, as if it were left out.
    if (given[name] !== null || !isRefused(type)) stripped[name] = stripBy(type, given[name])
  }
  return stripped
}

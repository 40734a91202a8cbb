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
  const pruned = pruneBy(input.schema, value)
  if (hasLooseList(input.schema, pruned)) parse(input.schemaFor(config), pruned)
  return pruned
}

function hasLooseList(schema: z.ZodType, value: unknown): boolean {
  if (value === undefined || value === null) return false
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return hasLooseList(schema.unwrap() as z.ZodType, value)
  if (schema instanceof z.ZodArray) {
    return !Array.isArray(value) || value.some((item) => hasLooseList(schema.element as z.ZodType, item))
  }
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object') return false
  return Object.entries(value).some(([name, item]) => hasLooseList(schema.shape[name] as z.ZodType, item))
}

function pruneBy(schema: z.ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return pruneBy(schema.unwrap() as z.ZodType, value)
  if (schema instanceof z.ZodArray && Array.isArray(value)) return value.map((item) => pruneBy(schema.element as z.ZodType, item))
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const given = value as Record<string, unknown>
  const pruned: Record<string, unknown> = {}
  // A loop that makes no lists: it runs for each REST request, over all fields of its input.
  for (const name in schema.shape) {
    if (!Object.hasOwn(given, name)) continue
    const type = schema.shape[name] as z.ZodType
    // Null is left out; the graph does not know a field that exists only to be refused.
    if (given[name] !== null || !isRefused(type)) pruned[name] = pruneBy(type, given[name])
  }
  return pruned
}

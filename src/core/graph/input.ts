// Builds GraphQL inputs from zod schemas: one definition gives the GraphQL type, the validation and its messages.
import type { InputRef } from '@pothos/core'
import { z } from 'zod'
import type { Config } from '../config/config.ts'
import { invalid } from '../errors.ts'
import { faultsOf, parse, uuid } from '../validation.ts'
import { builder } from './builder.ts'

/** A rule across fields. It runs even if fields are invalid, so that one response names every fault. */
export type Rules = (
  value: Record<string, unknown>,
  report: (path: (string | number)[], message: string) => void,
  config: Config,
) => void

/** A GraphQL input with its validation; `parse` returns the checked value. */
export interface Input<Schema extends z.ZodObject> {
  name: string
  ref: InputRef<z.input<Schema>>
  schemaFor: (config: Config) => z.ZodType<z.output<Schema>>
  /**
   * @throws VALIDATION_ERROR when a field is wrong; names every such field. A value that is no object is called `whole`, by
   * default `input`.
   */
  parse: (config: Config, value: unknown, whole?: string) => z.output<Schema>
}

/** Every input by its GraphQL name, to explain coercion errors and to document bodies. */
export const inputs = new Map<string, { schema: z.ZodObject; schemaFor: (config: Config) => z.ZodType }>()

interface Shape {
  type: unknown
  required: boolean | { list: boolean; items: boolean }
}

/** Field of every mutation that creates something. */
export const idempotencyKey = z
  .string()
  .nullish()
  .describe('A repeated mutation with the same key and input has no further effect and returns the first result.')

const enums = new Map<string, unknown>()

/** Sets the GraphQL type of a zod enum with that `meta.id`. */
export function registerEnum(id: string, ref: unknown): void {
  enums.set(id, ref)
}

/** Defines the input `name` from `schema`; each field gets a GraphQL type by its zod type. Nested objects need `meta.id`. */
export function defineInput<Schema extends z.ZodObject>(
  name: string,
  description: string,
  schema: Schema,
  rules?: Rules,
): Input<Schema> {
  const ref = builder.inputRef<Record<string, unknown>>(name)
  ref.implement({ description, fields: (t: FieldMaker) => fieldsOf(t, schema) } as never)
  const byConfig = new WeakMap<Config, z.ZodType>()
  function schemaFor(config: Config): z.ZodType<z.output<Schema>> {
    let ruled = byConfig.get(config)
    if (!ruled) {
      ruled = withRules(schema, rules, config)
      byConfig.set(config, ruled)
    }
    return ruled as z.ZodType<z.output<Schema>>
  }
  inputs.set(name, { schema, schemaFor })
  return {
    name,
    ref: ref as InputRef<object> as InputRef<z.input<Schema>>,
    schemaFor,
    parse: (config, value, whole = 'input') => parse(schemaFor(config), value, whole),
  }
}

/** Registers a REST body for which the graph has plain arguments, to be validated and documented like an input. */
export function defineArguments<Schema extends z.ZodObject>(name: string, schema: Schema): Schema {
  inputs.set(name, { schema, schemaFor: () => schema })
  return schema
}

/**
 * The id of a record and the changes to it.
 * @throws VALIDATION_ERROR when one of them is invalid; names the faults of both.
 */
export function parseChange<Schema extends z.ZodObject>(
  config: Config,
  changes: Input<Schema>,
  args: { id: unknown; input: unknown },
): [id: string, input: z.output<Schema>] {
  const id = uuid.safeParse(args.id)
  if (id.success) return [id.data, changes.parse(config, args.input)]
  const input = changes.schemaFor(config).safeParse(args.input)
  throw invalid([...faultsOf(id.error, 'id'), ...(input.success ? [] : faultsOf(input.error, 'input'))])
}

type FieldMaker = { field: (options: { type: unknown; required: Shape['required']; description?: string }) => unknown }

function fieldsOf(t: FieldMaker, schema: z.ZodObject): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema.shape)
      // Fields that exist only to be refused are not part of the graph.
      .filter(([, type]) => !isRefused(type as z.ZodType))
      .map(([field, type]) => [field, t.field({ ...shapeOf(type as z.ZodType), description: (type as z.ZodType).description })]),
  )
}

/** True for a field that exists only to be refused. */
export function isRefused(type: z.ZodType): boolean {
  if (type instanceof z.ZodOptional || type instanceof z.ZodNullable) return isRefused(type.unwrap() as z.ZodType)
  return type instanceof z.ZodNever
}

function withRules(schema: z.ZodObject, rules: Rules | undefined, config: Config): z.ZodType {
  if (!rules) return schema
  return schema.superRefine(
    (value, context) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return
      rules(value, (path, message) => context.addIssue({ code: 'custom', path, message }), config)
    },
    { when: () => true },
  )
}

const nested = new Map<string, unknown>()

function shapeOf(type: z.ZodType): Shape {
  const meta = type.meta()
  if (meta?.id && enums.has(meta.id)) return { type: enums.get(meta.id), required: true }
  if (meta?.id === 'DateTime') return { type: 'DateTime', required: true }
  if (type instanceof z.ZodOptional || type instanceof z.ZodNullable || type instanceof z.ZodDefault) {
    const { type: inner, required } = shapeOf(type.unwrap() as z.ZodType)
    return { type: inner, required: typeof required === 'object' && { ...required, list: false } }
  }
  if (type instanceof z.ZodPipe) return shapeOf(type.in as z.ZodType)
  const scalar = scalarOf(type)
  if (scalar) return { type: scalar, required: true }
  if (type instanceof z.ZodArray) {
    const item = shapeOf(type.element as z.ZodType)
    // Unknown items may be null; the code that validates them one by one refuses null.
    return { type: [item.type], required: type.element instanceof z.ZodUnknown ? { list: true, items: false } : true }
  }
  if (type instanceof z.ZodObject) {
    const name = meta?.id ?? fault('a nested object needs meta.id')
    let ref = nested.get(name)
    if (!ref) {
      ref = defineInput(name, type.description ?? name, type).ref
      nested.set(name, ref)
    }
    return { type: ref, required: true }
  }
  return fault(`no GraphQL type for zod's ${type.type}`)
}

function scalarOf(type: z.ZodType): string | undefined {
  if (type instanceof z.ZodGUID || type instanceof z.ZodUUID) return 'ID'
  if (type instanceof z.ZodString || type instanceof z.ZodStringFormat || type instanceof z.ZodLiteral) return 'String'
  if (type instanceof z.ZodNumber) return type.format === 'safeint' ? 'Int' : 'Float'
  if (type instanceof z.ZodBoolean) return 'Boolean'
  if (type instanceof z.ZodRecord || type instanceof z.ZodUnknown) return 'JSON'
  return undefined
}

function fault(message: string): never {
  throw new Error(message)
}

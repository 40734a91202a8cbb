// Input validation with uniform messages: `field.path: what it must be`, all faults in one message.
import { z } from 'zod'
import { fail, type Issue, invalid } from './errors.ts'
import { faultOfLength } from './graph/long-lists.ts'

type ZodIssue = z.core.$ZodIssue

/** Describes in words what a field must be; a schema's own message takes precedence. */
function describe(issue: ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required'
      if (issue.input === null) return 'must not be null'
      return `must be ${article(issue.expected)}`
    case 'too_small':
      return describeLeast(issue)
    case 'too_big':
      return describeMost(issue)
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : `must be one of ${issue.values.join(', ')}`
    case 'invalid_format':
      return issue.format === 'uuid' ? 'must be a UUID' : `must be a valid ${issue.format}`
    case 'invalid_key':
      return `its name ${issue.issues[0]?.message}`
    default:
      return issue.message
  }
}

function describeLeast({ origin, minimum, inclusive }: z.core.$ZodIssueTooSmall): string {
  const plural = minimum === 1 ? '' : 's'
  if (origin === 'string') return `must have at least ${minimum} character${plural}`
  if (origin === 'array') return `must have at least ${minimum} item${plural}`
  return inclusive === false ? `must be more than ${minimum}` : `must be at least ${minimum}`
}

function describeMost({ origin, maximum }: z.core.$ZodIssueTooBig): string {
  if (origin === 'string') return `must have at most ${maximum} characters`
  if (origin === 'array') return `must have at most ${maximum} items`
  return `must be at most ${maximum}`
}

function article(type: string): string {
  const named = {
    int: 'a whole number',
    number: 'a number',
    string: 'a string',
    boolean: 'true or false',
    object: 'an object',
    record: 'an object',
    array: 'an array',
  }
  return (named as Record<string, string>)[type] ?? `a valid ${type}`
}

z.config({ customError: (issue) => describe(issue as ZodIssue) })

/** The faults of a failed parse, by field. If the whole input has the wrong type, its path is `name`. */
export function faultsOf(error: z.ZodError, name = 'body'): Issue[] {
  return error.issues.flatMap((issue) => {
    const at = (path: PropertyKey[], message: string) => ({ path: path.join('.') || name, message })
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => at([...issue.path, key], 'is unknown'))
    return [at(issue.path, issue.message)]
  })
}

/** @throws VALIDATION_ERROR when the value is invalid; names every wrong field, or only the first list that is far too long. */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, name?: string): z.output<Schema> {
  const tooLong = faultOfLength(schema, value)
  if (tooLong) fail('VALIDATION_ERROR', tooLong)
  const result = schema.safeParse(value)
  if (!result.success) throw invalid(faultsOf(result.error, name))
  return result.data
}

const unstorable = 'must not contain NUL or unpaired surrogates'

function isStorable(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed()
}

/** A JSON object that PostgreSQL can store; the rule of {@link text} holds for its names and strings. */
export function jsonObject<Value extends z.ZodType>(value: Value) {
  return z.record(z.string(), value).check((context) => {
    const open: [path: (string | number)[], value: unknown][] = [[[], context.value]]
    for (let next = open.pop(); next; next = open.pop()) {
      const [path, item] = next
      const names = typeof item === 'object' && item !== null ? Object.keys(item) : []
      if ((typeof item === 'string' && !isStorable(item)) || !names.every(isStorable)) {
        context.issues.push({ code: 'custom', message: unstorable, input: item, path })
      }
      for (const [name, inner] of Object.entries(typeof item === 'object' && item !== null ? item : {}))
        open.push([[...path, name], inner])
    }
  })
}

/** Text that PostgreSQL can store: no NUL, no lone surrogate. Lengths count Unicode code points. */
export function text(min: number, max: number) {
  const tooShort = min === 1 ? 'must not be empty' : `must have at least ${min} characters`
  const faultOfText = (value: string) => {
    if (!isStorable(value)) return unstorable
    if (isShorter(value, min)) return tooShort
    return isLonger(value, max) ? `must have at most ${max} characters` : null
  }
  const checked = z.string().check((context) => {
    const fault = faultOfText(context.value)
    if (fault) context.issues.push({ code: 'custom', message: fault, input: context.value })
  })
  // Metadata for generated documentation.
  return checked.meta({ ...(min > 0 && { minLength: min }), maxLength: max })
}

/** A name: text that is not only white space, by Unicode. It is stored as given, with the white space around it. */
export function nameOf(max: number) {
  const fault = 'must not be blank'
  return text(1, max).check(({ value, issues }) => {
    if (/^\p{White_Space}+$/u.test(value)) issues.push({ code: 'custom', message: fault, input: value })
  })
}

/** The fault of a value that is to be kept as text, or null. An unsafe integer is refused: its last digits are lost already. */
function faultOfScalar(value: unknown, max: number): string | null {
  if (typeof value === 'string') {
    if (!isStorable(value)) return unstorable
    return isLonger(value, max) ? `must have at most ${max} characters` : null
  }
  if (typeof value === 'boolean') return null
  if (typeof value !== 'number') return 'must be a string, a number, true or false'
  // `1e400` in JSON becomes Infinity.
  const isExact = Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value))
  return isExact ? null : 'must be a string, because it has too many digits'
}

/**
 * Texts by their names, in an object that PostgreSQL can store. Numbers and booleans are kept as their text, and null counts as left
 * out.
 */
export function textsByName(max: number) {
  // The document shows these types; the transformation checks the values, so that one error names all of them.
  const value = z.unknown().meta({ type: ['string', 'number', 'boolean', 'null'], maxLength: max })
  return z.record(z.string(), value).transform((values, { issues }) => {
    const given = Object.entries(values).filter(([, item]) => item !== null)
    if (!given.every(([name]) => isStorable(name))) issues.push({ code: 'custom', message: unstorable, input: values })
    const texts: [name: string, text: string][] = []
    for (const [name, item] of given) {
      const fault = faultOfScalar(item, max)
      if (fault) issues.push({ code: 'custom', message: fault, input: item, path: [name] })
      else texts.push([name, String(item)])
    }
    return Object.fromEntries(texts)
  })
}

/** True if a text has more than `max` code points. They are counted, at 5 ns each, only if its length does not decide it. */
export function isLonger(value: string, max: number): boolean {
  return value.length > 2 * max || (value.length > max && [...value].length > max)
}

/** True if a text has fewer than `min` code points. */
function isShorter(value: string, min: number): boolean {
  return value.length < min || (value.length < 2 * min && [...value].length < min)
}

/** Message for a value that is present and wrong. A missing value is only reported as required. */
export function unlessMissing(message: string) {
  return ({ input }: { input?: unknown }) => (input === undefined ? 'is required' : message)
}

/** Before this date, the calendars of databases and of Node differ. */
const firstMoment = Date.parse('0001-01-01T00:00:00Z')

/** A timestamp with an offset or `Z`, which must exist on the calendar. */
export const moment = z.iso
  .datetime({
    offset: true,
    abort: true,
    error: unlessMissing('must be an ISO 8601 date and time with an offset, for example 2026-01-31T10:00:00Z'),
  })
  .refine((value) => Date.parse(value) >= firstMoment, 'must not be before the year 1')
  .meta({ id: 'DateTime' })

export const uuid = z.guid({ error: unlessMissing('must be a UUID') }).transform((value) => value.toLowerCase())

/** A query parameter. One that is given twice arrives as a list. */
export const once = z.string({ error: unlessMissing('must be given once') })

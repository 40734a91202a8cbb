// Generates every violation of a schema of the OpenAPI document, one fault at a time.
import fc from 'fast-check'
import type { Schema } from '../../rest-compat/openapi/zod.ts'
import { type Known, plainOf, presentFor } from './arbitrary.ts'

export interface Fault {
  /** The place of the fault, as a refusal names it: `buttons.0.id`; empty for the whole value. */
  path: string
  what: string
  /** The whole value, with this fault in it and no other. */
  value: fc.Arbitrary<unknown>
}

/** Every fault that a value of `schema` can have; the unchanged parts of an object come from `valid`. */
export function faultsIn(schema: Schema, known: Known, valid: fc.Arbitrary<unknown> = presentFor(schema, known)): Fault[] {
  const { schema: plain, nullable } = plainOf(schema)
  return [
    ...typeFaults(plain, nullable),
    ...ownFaults(plain, known),
    ...itemFaults(plain, known),
    ...fieldFaults(plain, known, valid),
  ]
}

const samples: Record<string, fc.Arbitrary<unknown>> = {
  string: fc.constantFrom('text', '5', 'true', 'null', '{}'),
  number: fc.constantFrom(7, 0.5, -1, Number.MAX_SAFE_INTEGER, 1e308),
  boolean: fc.boolean(),
  array: fc.constantFrom([], [[]], ['text', 7]),
  object: fc.constantFrom({}, { a: { b: [] } }, { length: 1 }),
  null: fc.constant(null),
}

function typeFaults(schema: Schema, nullable: boolean): Fault[] {
  const types = (schema.anyOf ?? [schema]).map(({ type }) => (type === 'integer' ? 'number' : type))
  if (types.includes(undefined)) return []
  const others = Object.keys(samples).filter((other) => !types.includes(other) && !(nullable && other === 'null'))
  return others.map((other) => fault(`${other} in place of ${types.join(' or ')}`, samples[other] as fc.Arbitrary<unknown>))
}

function fault(what: string, ...values: [unknown, ...unknown[]]): Fault {
  const [first] = values
  const isArbitrary = first instanceof fc.Arbitrary
  return { path: '', what, value: isArbitrary ? first : fc.constantFrom(...values) }
}

/** Every fault that a query parameter can have, where every value is text. */
export function queryFaultsIn(schema: Schema): Fault[] {
  const { schema: plain } = plainOf(schema)
  if (plain.type !== 'integer') {
    // An empty value counts as left out.
    const sayable = textFaults(plain).filter(
      ({ what }) => what !== halfPair && (what !== tooShort || (plain.minLength as number) > 1),
    )
    return sayable.map((one) => ({
      ...one,
      value: one.value.filter((text) => text !== '' && encodeURIComponent(text as string).length < 8_000),
    }))
  }
  const [min, max] = [plain.minimum, plain.maximum] as [number, number]
  return [fault('no whole number in its bounds', `${min - 1}`, `${max + 1}`, `${min}.5`, '-1', '1e1', ' 1', 'x', '9'.repeat(20))]
}

/** An empty text, if the shortest one has a character. */
const tooShort = 'too short'
/** A URL cannot express this fault. */
const halfPair = 'half of a pair of surrogates'

/** Faults of a value that has the right type. */
function ownFaults(schema: Schema, known: Known): Fault[] {
  if (schema.anyOf) return schema.anyOf.filter(({ type }) => type === 'string').flatMap(textFaults)
  switch (schema.type) {
    case 'string':
      return textFaults(schema)
    case 'number':
    case 'integer':
      return boundFaults(schema)
    case 'array':
      return countFaults(schema, known)
  }
  return []
}

const formats: Record<string, [string, ...string[]]> = {
  uuid: ['5', '', '{01900000-0000-7000-8000-000000000000}', '019000000000700080000000000000000', "' or 1=1--"],
  'date-time': [
    '',
    'tomorrow',
    '2030-01-01',
    '2030-01-01T00:00:00',
    '2031-02-30T00:00:00Z',
    '2030-01-01T25:00:00Z',
    '1700000000',
  ],
  email: ['', 'ada', 'ada@', '@example.com', 'ada@example.com\n', 'ada@exa mple.com'],
}

function textFaults({ enum: values, format, pattern, ...schema }: Schema): Fault[] {
  if (values || 'const' in schema) return [fault('no such name', 'nonsense', '', '__proto__', 'constructor', 'TEXT')]
  if (format && formats[format]) return [fault(`no ${format}`, ...formats[format])]
  if (pattern)
    return [
      fault(
        'another form',
        '',
        '5',
        '+1',
        '+0393331234567',
        '+39 333 1234567',
        '+3933312345ab',
        '+39333123456712345',
        '+393331234567\n',
      ),
    ]
  const { minLength, maxLength } = schema as { minLength?: number; maxLength?: number }
  return [
    fault('NUL', '\0', 'a\0b'),
    fault(halfPair, '\ud800', 'a\udc00b', '\udc00\ud800'),
    ...(minLength ? [fault(tooShort, 'x'.repeat(minLength - 1))] : []),
    ...(maxLength ? [fault('too long', 'x'.repeat(maxLength + 1), '\u{1f600}'.repeat(maxLength + 1))] : []),
  ]
}

function boundFaults({ minimum, maximum }: Schema): Fault[] {
  const [min, max] = [minimum, maximum] as (number | undefined)[]
  return [
    ...(min === undefined ? [] : [fault('too little', min - 1, min - 1e-9, -1e308)]),
    ...(max === undefined ? [] : [fault('too much', max + 1, max + 1e-9, 1e308, Number.MAX_SAFE_INTEGER)]),
  ]
}

function countFaults({ minItems, maxItems, items = {} }: Schema, known: Known): Fault[] {
  const [min = 0, max] = [minItems, maxItems] as (number | undefined)[]
  const item = presentFor(items, known)
  // A separate test covers the upper bound of lists that allow more than 1,000 items.
  const isShort = max !== undefined && max <= 1000
  return [
    ...(min > 0 ? [fault('too few', [])] : []),
    ...(isShort
      ? [
          fault(
            'too many',
            item.map((one) => Array(max + 1).fill(one)),
          ),
        ]
      : []),
  ]
}

/** Each faulty item is alone in its list, so that no other item is judged. */
function itemFaults({ items }: Schema, known: Known): Fault[] {
  if (!items) return []
  const { schema } = plainOf(items)
  return within('0', faultsIn(schema.anyOf?.[0] ?? items, known), (value) => value.map((one) => [one]))
}

function fieldFaults(
  { properties, required = [], additionalProperties }: Schema,
  known: Known,
  valid: fc.Arbitrary<unknown>,
): Fault[] {
  if (typeof additionalProperties === 'object') {
    return [
      ...within('a', faultsIn(additionalProperties, known), (value) => value.map((a) => ({ a }))),
      fault('a name that cannot be kept', { 'a\0': 'b' }, { '\ud800': 'b' }),
    ]
  }
  const whole = valid as fc.Arbitrary<Record<string, unknown>>
  return Object.entries(properties ?? {}).flatMap(([name, schema]) => [
    ...within(name, faultsIn(schema, known, presentFor(schema, known, name)), (value) =>
      fc.tuple(whole, value).map(([body, broken]) => ({ ...body, [name]: broken })),
    ),
    ...(required.includes(name) ? [{ path: name, what: 'missing', value: whole.map(({ [name]: _, ...rest }) => rest) }] : []),
  ])
}

function within(name: string, faults: Fault[], wrap: (value: fc.Arbitrary<unknown>) => fc.Arbitrary<unknown>): Fault[] {
  return faults.map(({ path, what, value }) => ({ path: path ? `${name}.${path}` : name, what, value: wrap(value) }))
}

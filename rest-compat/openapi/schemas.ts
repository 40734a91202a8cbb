// Builds the schemas of the OpenAPI document: the route schemas, with descriptions and enums of the GraphQL types.
import {
  type GraphQLEnumType,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isObjectType,
} from 'graphql'
import type { z } from 'zod'
import { mapValues, type Schema, toSchema } from './zod.ts'

type GraphType = GraphQLOutputType | GraphQLInputType

export interface Schemas {
  /** All named schemas, by name. */
  components: Record<string, Schema>
  /** The schema of an answer. `type` is the GraphQL type of the same data. */
  answer: (answer: z.ZodType, type?: GraphQLOutputType) => Schema
  /** Adds a named schema. Returns a reference to it. */
  named: (name: string, description: string, schema: z.ZodType) => string
  /**
   * Adds an input as a request body, with the GraphQL description if there is one. Returns a reference to it. Leaves out `idempotencyKey`,
   * and fields that exist only to be refused.
   */
  body: (name: string, input: z.ZodObject) => Schema
  /**
   * The schema of query parameters. `typeOf` returns the GraphQL type of a field, if there is one. A text that is a list in GraphQL has its
   * items separated by commas.
   */
  query: (query: z.ZodObject, typeOf: (name: string) => GraphQLInputType | undefined) => Schema
}

export function createSchemas(graph: GraphQLSchema): Schemas {
  const components: Record<string, Schema> = {}
  const enriched = new Set<string>()
  const fromGraph = new Set<string>()

  function convert(schema: z.ZodType, io: 'input' | 'output'): Schema {
    const { root, named } = toSchema(schema, io)
    for (const [name, one] of Object.entries(named)) {
      const description = graph.getType(name)?.description
      // A route's own definition of an enum takes precedence over that of GraphQL.
      if (fromGraph.delete(name) || !components[name]) components[name] = { ...(description && { description }), ...one }
    }
    return root
  }

  /**
   * Adds what GraphQL knows about `type` to `schema`: descriptions, enums, and the formats of ids and times. The schema's own description
   * stays.
   */
  function enrich(schema: Schema, type?: GraphType): Schema {
    if (schema.$ref) {
      enrichComponent(schema.$ref, type)
      return schema
    }
    if (schema.anyOf) return { ...schema, anyOf: schema.anyOf.map((one) => enrich(one, type)) }
    if (schema.items) return { ...schema, items: enrich(schema.items, type) }
    if (schema.properties) return nameRecord(enrichFields(schema, schema.properties, type), type)
    return isText(schema) && type ? enrichText(schema, getNamedType(type)) : schema
  }

  function enrichText(schema: Schema, type: GraphQLNamedType): Schema {
    if (isEnumType(type) && !schema.enum) return enumOf(schema, type.name)
    if (type.name === 'ID') return { format: 'uuid', ...schema }
    if (type.name === 'DateTime') return { format: 'date-time', ...schema }
    return schema
  }

  function enrichComponent(ref: string, type?: GraphType): void {
    const name = ref.split('/').at(-1) as string
    if (enriched.has(name)) return
    enriched.add(name)
    const known = (graph.getType(name) as GraphType | undefined) ?? type
    const { properties, ...schema } = components[name] as Schema
    const description = known && getNamedType(known).description
    components[name] = {
      ...(description && { description }),
      ...(properties ? enrichFields(schema, properties, known) : enrich(schema, known)),
    }
  }

  function enrichFields(schema: Schema, properties: Record<string, Schema>, type?: GraphType): Schema {
    const fields = fieldsOf(type)
    const enrichedFields = mapValues(properties, (property, name) => {
      const field = fields[name] ?? pageItems(property, fields)
      const described = field?.description && !property.description ? { description: field.description } : {}
      return { ...enrich(property, field?.type), ...described }
    })
    return { ...schema, properties: enrichedFields }
  }

  /**
   * Makes an object schema a component named after the GraphQL type, if all of its properties are fields of that type. It stays inline if
   * that name has a different schema already.
   */
  function nameRecord(schema: Schema, type?: GraphType): Schema {
    const named = type && getNamedType(type)
    const names = Object.keys(schema.properties ?? {})
    if (!isObjectType(named) || !names.every((name) => name in named.getFields())) return schema
    const record = { description: named.description ?? '', ...schema, type: 'object' }
    components[named.name] ??= record
    if (JSON.stringify(components[named.name]) !== JSON.stringify(record)) return schema
    const $ref = `#/components/schemas/${named.name}`
    return schema.type === 'object' ? { $ref } : { anyOf: [{ $ref }, { type: 'null' }] }
  }

  function enumOf(schema: Schema, name: string): Schema {
    const type = graph.getType(name)
    if (isEnumType(type) && !components[name]) {
      const values = type.getValues()
      components[name] = { type: 'string', enum: values.map((value) => value.name), description: describeEnum(type) }
      fromGraph.add(name)
    }
    const { type: own, ...rest } = schema
    const $ref = `#/components/schemas/${name}`
    return own === 'string' ? { $ref, ...rest } : { anyOf: [{ $ref }, { type: 'null' }], ...rest }
  }

  return {
    components,
    answer: (answer, type) => enrich(convert(answer, 'output'), type),
    named: (name, description, schema) => {
      components[name] = { description, ...convert(schema, 'output') }
      return `#/components/schemas/${name}`
    },
    body: (name, input) => {
      components[name] ??= { description: graph.getType(name)?.description ?? '', ...bodyOf(convert(input, 'input')) }
      return { $ref: `#/components/schemas/${name}` }
    },
    query: (query, typeOf) => {
      const { properties = {}, ...schema } = convert(query, 'input')
      const enrichQuery = (property: Schema, type?: GraphQLInputType) =>
        isListType(getNullableType(type)) && isText(property)
          ? { ...property, type: 'array', items: enrich({ type: 'string' }, type) }
          : neverNull(enrich(property, type))
      return { ...schema, properties: mapValues(properties, (property, name) => enrichQuery(property, typeOf(name))) }
    },
  }
}

/** The schema of a body: that of its input without `idempotencyKey`, and without the fields that exist only to be refused. */
function bodyOf({ properties = {}, ...schema }: Schema): Schema {
  const isRefused = ({ not, anyOf }: Schema) => not !== undefined || anyOf?.some((choice) => choice.not !== undefined)
  const taken = Object.entries(properties).filter(([name, property]) => name !== 'idempotencyKey' && !isRefused(property))
  return { ...schema, properties: Object.fromEntries(taken) }
}

interface Field {
  type: GraphType
  description?: string | null
}

function fieldsOf(type?: GraphType): Record<string, Field | undefined> {
  const named = type && getNamedType(type)
  return isObjectType(named) || isInputObjectType(named) ? named.getFields() : {}
}

/** The field that holds the items of a page. In GraphQL these are the `nodes` of a connection; REST has its own name for them. */
function pageItems(property: Schema, fields: Record<string, Field | undefined>): Field | undefined {
  return property.items && fields.nodes && fields.pageInfo ? { type: fields.nodes.type } : undefined
}

/** Removes `null` from a query parameter. It can be left out, but `null` in a URL would be a text. */
function neverNull({ type, ...schema }: Schema): Schema {
  return { ...schema, ...(type && { type: [type].flat().find((one) => one !== 'null') as string }) }
}

function isText({ type }: Schema): boolean {
  return [type].flat().includes('string')
}

function describeEnum(type: GraphQLEnumType): string {
  const described = type.getValues().filter(({ description }) => description)
  return [type.description, ...described.map(({ name, description }) => `- \`${name}\`: ${description}`)].join('\n')
}

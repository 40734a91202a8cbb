// Describes one route as an OpenAPI operation: parameters, body, answers.
import { type DocumentNode, type GraphQLInputType, type GraphQLSchema, getNamedType } from 'graphql'
import type { z } from 'zod'
import { errors } from '../../src/core/errors.ts'
import type { RefusedRoute, Route } from '../route.ts'
import { errorResponses, errorsOf } from './errors.ts'
import type { DemoIds, TypeExample } from './example.ts'
import { examplesFor } from './examples.ts'
import { type SelectedField, selectedField } from './graph.ts'
import type { Schemas } from './schemas.ts'
import { type Entry, headerRefs, type SurfaceRules } from './surface.ts'
import type { Schema } from './zod.ts'

export interface OperationSource {
  graph: GraphQLSchema
  /** The GraphQL inputs by name. */
  inputs: ReadonlyMap<string, { schema: z.ZodObject }>
  /** True if an operation requires a usable subscription. */
  needsActive: (document: DocumentNode) => boolean
  /** The ids in the examples. */
  demo: DemoIds
  /** Examples of messages by type, in the order of the document. */
  messageExamples: Readonly<Record<string, TypeExample>>
}

export interface Components {
  rules: SurfaceRules
  schemas: Schemas
  responses: Record<string, unknown>
}

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string | null
  schema: Schema
  /** False for a list whose items are separated by commas. */
  explode?: boolean
  example?: unknown
}

export interface Operation {
  operationId: string
  summary: string
  description?: string
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: unknown
  responses: Record<string, unknown>
  security?: unknown
}

export function operationOf(source: OperationSource, components: Components, route: Route | RefusedRoute): Operation {
  const { rules } = components
  if ('refuse' in route) return refusedOperation(components, route)
  const field = selectedField(source.graph, route.document)
  const codes = errorsOf(rules, route, [
    ...field.errors,
    ...(source.needsActive(route.document) ? (['SUBSCRIPTION_INACTIVE'] as const) : []),
  ])
  return {
    operationId: route.operationId ?? field.name,
    summary: route.summary,
    description: field.description,
    parameters: [...parametersOf(route, field, components.schemas, source.demo), ...headersTaken(rules, route)],
    requestBody: bodyOf(source, components.schemas, route, field),
    responses: { ...successOf(route, field, components), ...errorResponses(codes, components, route.method === 'POST') },
    security: rules.security,
  }
}

function refusedOperation(components: Components, route: RefusedRoute): Operation {
  const { rules } = components
  const { operationId, summary, refuse } = route
  return {
    operationId,
    summary,
    description: `${errors[refuse].message}.`,
    parameters: headersTaken(rules, route),
    responses: errorResponses(errorsOf(rules, route, []), components),
    security: rules.security,
  }
}

/** The parameters of the path and of the query, with the words of the arguments that the field has for them. */
export function parametersOf(
  route: Pick<Route, 'path'> & Partial<Pick<Route, 'query' | 'renames'>>,
  field: SelectedField,
  schemas: Schemas,
  demo: DemoIds,
): Parameter[] {
  const graphNames = Object.fromEntries(Object.entries(route.renames ?? {}).map(([graph, rest]) => [rest, graph]))
  const argument = (name: string) => field.argument(graphNames[name] ?? name)
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']): Parameter => {
    const arg = argument(name)
    const example = exampleOf(route.path, name, demo)
    return {
      name,
      in: 'path',
      required: true,
      // If only the path names the team, GraphQL has no argument for it.
      description: arg?.description ?? (name === 'teamId' ? "The team's id." : undefined),
      schema: { type: 'string', ...((!arg || getNamedType(arg.type).name === 'ID') && { format: 'uuid' }) },
      example,
    }
  })
  const inQuery = route.query ? parametersIn('query', schemas, route.query, (name) => argument(name)?.type) : []
  return [...inPath, ...inQuery]
}

/** The headers of a route, except those for authentication. */
export function headersTaken(rules: SurfaceRules, route: Entry & { method: string }): { $ref: string }[] {
  const taken = [...(route.method === 'POST' ? ['Idempotency-Key'] : []), ...(rules.takesTeam(route) ? ['X-Team-Id'] : [])]
  return taken.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

/** The demo account's id for a path parameter, if it has one. */
function exampleOf(path: string, name: string, demo: DemoIds): string | undefined {
  const kind = name === 'id' ? `${path.split('/')[1]?.replace(/s$/, '')}Id` : name
  return Object.hasOwn(demo, kind) ? demo[kind as keyof DemoIds] : undefined
}

/** Path or query parameters from the fields of a schema. `typeOf` returns the GraphQL type of a field, if there is one. */
export function parametersIn(
  where: 'path' | 'query',
  schemas: Schemas,
  fields: z.ZodObject,
  typeOf: (name: string) => GraphQLInputType | undefined = () => undefined,
): Parameter[] {
  const { properties = {}, required = [] } = schemas.query(fields, typeOf)
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: where,
    ...(required.includes(name) && { required: true }),
    description,
    schema,
    ...(schema.type === 'array' && typeOf(name) && { explode: false }),
  }))
}

function bodyOf(
  { inputs, demo, messageExamples }: OperationSource,
  schemas: Schemas,
  route: Route,
  field: SelectedField,
): unknown {
  if (!route.input) return undefined
  const input = inputs.get(route.input)
  if (!input) throw new Error(`${route.method} ${route.path} takes ${route.input}, which is no input of the graph`)
  const schema = schemas.body(route.input, input.schema)
  const examples = examplesFor(demo, messageExamples)[route.operationId ?? field.name]
  return {
    ...(!route.optionalBody && { required: true }),
    content: { 'application/json': { schema, ...(examples && { examples }) } },
  }
}

function successOf(
  { method, status, answer, otherAnswer }: Route,
  { type }: SelectedField,
  { schemas, rules }: Components,
): Record<string, unknown> {
  const headers = headerRefs([...rules.headers, ...(method === 'POST' ? ['Idempotency-Replayed'] : [])])
  const response = (of: z.ZodType, description: string) => {
    const schema = { type: 'object', required: ['data'], properties: { data: schemas.answer(of, type) } }
    return { description, headers, content: { 'application/json': { schema } } }
  }
  return {
    [status]: response(answer, statusWords[status] ?? 'The requested data.'),
    ...(otherAnswer && {
      [otherAnswer.status ?? 202]: response(
        otherAnswer.answer,
        otherAnswer.description ?? 'The request is processed in the background.',
      ),
    }),
  }
}

const statusWords: Record<number, string> = { 201: 'The new record.', 202: 'The result for each item.' }

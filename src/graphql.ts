// GraphQL over HTTP: graphql-yoga with its limits, executing through the one executor.
import { EnvelopArmor } from '@escape.tech/graphql-armor'
import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention'
import { complexityFromQuery } from '@pothos/plugin-complexity'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ExecutionArgs, GraphQLSchema } from 'graphql'
import { GraphQLError, getOperationAST, Kind, parse, print } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import type { Reach } from './billing/admit.ts'
import type { App } from './core/app.ts'
import type { Context } from './core/context.ts'
import { errors, failure } from './core/errors.ts'
import { executeOperation } from './core/execute.ts'
import { failureOf } from './core/http.ts'
import type { Door } from './door.ts'
import type { Streams } from './events/streams.ts'

/** What one operation may cost: how deep, how wide, how many nodes it may touch. */
export const limits = { depth: 20, breadth: 200, complexity: 20_000, tokens: 1_000, aliases: 15, directives: 50 } as const

interface ServerContext {
  gateway: Context
}

export interface GraphqlOptions {
  schema: GraphQLSchema
  door: Door
  streams: Pick<Streams, 'isStreamRequest' | 'handleStream'>
}

/** Mounts `/graphql`: queries and mutations through yoga, subscriptions and other streams through the streams' own door. */
export function mountGraphql(http: FastifyInstance, app: App, { schema, door, streams }: GraphqlOptions): void {
  const yoga = createGraphql(schema)
  http.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBodyBytes }, (_, body, done) => done(null, body))
    scope.setErrorHandler((error, request, reply) => answerGraphqlError(app, error as Error, request, reply))
    scope.route({
      method: ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'],
      url: '/graphql',
      handler: async (request, reply) => {
        if (streams.isStreamRequest(request)) return await streams.handleStream(request, reply)
        const gateway = await door.open(request, reply, reachOf(schema, queryOf(request)))
        const response = await yoga.fetch(
          new URL(request.url, 'http://gateway').href,
          { method: request.method, headers: plainHeaders(request), body: (request.body as BodyInit | undefined) ?? undefined },
          { gateway },
        )
        // Yoga's own word on who may read the answer and how long it is has no place behind Fastify.
        for (const name of ['content-type', 'allow']) {
          const value = response.headers.get(name)
          if (value) reply.header(name, value)
        }
        return await reply.code(response.status).send(await response.text())
      },
    })
  })
}

function queryOf(request: FastifyRequest): unknown {
  if (request.method === 'GET') return (request.query as Record<string, unknown>).query
  try {
    return (JSON.parse((request.body as Buffer).toString()) as { query?: unknown }).query
  } catch {
    return undefined
  }
}

function plainHeaders(request: FastifyRequest): Record<string, string> {
  const { 'content-length': _, 'transfer-encoding': __, ...headers } = request.headers
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}

/** What goes wrong before GraphQL is told as GraphQL tells it, with the status of the failure. */
function answerGraphqlError(app: App, error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { code, message } = failureOf(app, error, request)
  if (errors[code].status === 503) reply.header('Retry-After', '1')
  const json = /application\/graphql-response\+json/.test(request.headers.accept ?? '')
    ? 'application/graphql-response+json'
    : 'application/json'
  return reply
    .code(errors[code].status)
    .type(`${json}; charset=utf-8`)
    .send(JSON.stringify({ errors: [{ message, extensions: { code } }] }))
}

/** Longest body of a GraphQL request, in bytes. */
const maxBodyBytes = 16 * 1024 * 1024

function createGraphql(schema: GraphQLSchema) {
  const armor = new EnvelopArmor({
    maxTokens: { n: limits.tokens },
    maxAliases: { n: limits.aliases },
    maxDirectives: { n: limits.directives },
    maxDepth: { n: limits.depth, flattenFragments: true },
    costLimit: { enabled: false },
    blockFieldSuggestion: { enabled: true },
  })
  return createYoga<ServerContext>({
    schema,
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    multipart: false,
    batching: false,
    logging: false,
    // Errors are made public where they happen, in the executor.
    maskedErrors: false,
    plugins: [
      // A browser sends none of these by itself, so no other site can make it ask in a user's name.
      useCSRFPrevention({ requestHeaders: ['x-api-key', 'authorization', 'x-graphql-yoga-csrf'] }),
      ...(armor.protect().plugins as Plugin[]),
      useCostLimit(),
      useOneExecutor(),
      useCodes(),
    ],
  })
}

/** Counts what an operation may touch, with its variables, before anything runs. */
export function refuseCostly(
  args: Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues' | 'contextValue'>,
): GraphQLError | null {
  const operation = getOperationAST(args.document, args.operationName)
  if (!operation) return null
  const sideEffects =
    operation.operation === 'mutation' ? operation.selectionSet.selections.filter((item) => item.kind === Kind.FIELD).length : 0
  if (sideEffects > 1) return failure('VALIDATION_ERROR', 'A request may hold one mutation; send the others on their own')
  try {
    const cost = complexityFromQuery(print(args.document), {
      schema: args.schema,
      variables: (args.variableValues ?? {}) as Record<string, unknown>,
      ctx: args.contextValue as object,
    })
    for (const kind of ['depth', 'breadth', 'complexity'] as const) {
      if (cost[kind] > limits[kind])
        return failure('VALIDATION_ERROR', `The query's ${kind} is ${cost[kind]}; at most ${limits[kind]} is allowed`)
    }
  } catch {
    // Variables that do not fit are refused, by name, where they are coerced.
  }
  return null
}

function useCostLimit(): Plugin {
  return {
    onExecute({ args, setResultAndStopExecution }) {
      const refused = refuseCostly(args)
      if (refused) setResultAndStopExecution({ errors: [refused] })
    },
  }
}

function useOneExecutor(): Plugin {
  return {
    onExecute({ setExecuteFn }) {
      setExecuteFn((args: ExecutionArgs) =>
        executeOperation({
          schema: args.schema,
          document: args.document,
          operationName: args.operationName,
          variables: args.variableValues as Record<string, unknown>,
          context: (args.contextValue as ServerContext).gateway,
        }),
      )
    },
  }
}

/** What GraphQL itself refuses (syntax, unknown fields, limits) is the caller's fault too, and says so by code. */
function useCodes(): Plugin {
  return {
    onResultProcess({ result, setResult }) {
      if (Array.isArray(result) || !('errors' in result) || !result.errors) return
      setResult({ ...result, errors: result.errors.map(withCode) })
    },
  }
}

function withCode(error: GraphQLError): GraphQLError {
  if (error.extensions?.code && error.extensions.code !== 'BAD_REQUEST') return error
  const { originalError: _, ...extensions } = error.extensions ?? {}
  return new GraphQLError(error.message, {
    nodes: error.nodes,
    source: error.source,
    positions: error.positions,
    path: error.path,
    extensions: { ...extensions, code: 'VALIDATION_ERROR' },
  })
}

const reaches = new Map<string, Reach>()

/** What an operation is about: `personal` as soon as one of its fields is, `open` where all of it is the plan catalogue. */
export function reachOf(schema: GraphQLSchema, query: unknown): Reach {
  if (typeof query !== 'string') return 'workspace'
  const known = reaches.get(query)
  if (known) return known
  const reach = findReach(schema, query)
  if (query.length > 4_096) return reach
  if (reaches.size >= 1_000) reaches.delete(reaches.keys().next().value as string)
  reaches.set(query, reach)
  return reach
}

function findReach(schema: GraphQLSchema, query: string): Reach {
  const fields = schema.getQueryType()?.getFields() ?? {}
  try {
    const names = parse(query, { maxTokens: limits.tokens, noLocation: true }).definitions.flatMap((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION
        ? definition.selectionSet.selections.map((item) => (item.kind === Kind.FIELD ? item.name.value : ''))
        : [],
    )
    const isPersonal = (name: string) =>
      (fields[name]?.extensions.pothosOptions as { authScopes?: { personal?: boolean } } | undefined)?.authScopes?.personal ===
      true
    if (names.some(isPersonal)) return 'personal'
    return names.every((name) => name === 'plans' || name.startsWith('__')) ? 'open' : 'workspace'
  } catch {
    return 'workspace'
  }
}

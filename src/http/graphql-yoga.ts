// GraphQL server (graphql-yoga) with its limits. All operations run in the shared executor.
import { EnvelopArmor } from '@escape.tech/graphql-armor'
import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention'
import type { ExecutionArgs, ExecutionResult, GraphQLSchema } from 'graphql'
import { GraphQLError, getOperationAST } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import type { App } from '../core/app.ts'
import type { Context, Idempotency } from '../core/context.ts'
import { codeOf, type ErrorCode, failure } from '../core/errors.ts'
import { createDocuments, type Documents, parseDocument } from '../core/graph/documents.ts'
import { executeOperation, publish } from '../core/graph/execute.ts'
import { withoutSuggestion } from '../core/graph/refuse-variables.ts'
import { limits, refuseCostly } from './graphql-limits.ts'
import { introspectOnce } from './introspection-limits.ts'

/** Data of the HTTP request that the operation needs. */
export interface ServerContext {
  gateway: Context
  /** From the `Idempotency-Key` header. Applies to mutations only. */
  idempotency: Idempotency | null
  /** Parsed body of a POST. Yoga itself reads the parameters of a GET. */
  params?: object
  /** The result, if the operation was executed already. */
  result?: ExecutionResult
}

export interface Graphql {
  /** Answers a request that is authenticated. */
  answer: (url: string, init: RequestInit, context: ServerContext) => Promise<Response>
  /** Documents validated by the GraphQL rules and the limits, for code that executes without `answer`. */
  documents: Documents
}

export function createGraphql(app: App, schema: GraphQLSchema): Graphql {
  const armor = new EnvelopArmor({
    // `parseDocument` limits the tokens instead.
    maxTokens: { enabled: false },
    maxAliases: { n: limits.aliases },
    maxDirectives: { n: limits.directives },
    maxDepth: { n: limits.depth, flattenFragments: true },
    costLimit: { enabled: false },
    // It recognizes only one of the forms of suggestions. `withoutSuggestion` removes them all.
    blockFieldSuggestion: { enabled: false },
  })
  const yoga = createYoga<ServerContext>({
    schema,
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    multipart: false,
    batching: false,
    logging: false,
    // This cache would hold a thousand documents of any length. `documents` is the cache instead.
    parserAndValidationCache: false,
    // The executor masks errors where they occur.
    maskedErrors: false,
    plugins: [
      // CSRF protection: a browser sends none of these headers by itself, so another site cannot act in a user's name.
      useParsedBody(),
      useCSRFPrevention({ requestHeaders: ['x-api-key', 'authorization', 'x-graphql-yoga-csrf'] }),
      ...(armor.protect().plugins as Plugin[]),
      useTextLimits(),
      useCostLimit(),
      useOneExecutor(),
      useCodes(app),
    ],
  })
  return {
    answer: async (url, init, context) => await yoga.fetch(url, init, context),
    documents: createDocuments((document) => {
      const { validate } = yoga.getEnveloped({} as Parameters<typeof yoga.getEnveloped>[0])
      const faults: readonly GraphQLError[] = validate(schema, document)
      return faults.map(({ message, ...rest }) => new GraphQLError(withoutSuggestion(message), rest))
    }),
  }
}

/** Passes the body that was parsed within the gateway's limits to Yoga. */
function useParsedBody(): Plugin<Record<string, never>, ServerContext> {
  return {
    onRequestParse({ request, serverContext: { params }, setRequestParser }) {
      if (request.method === 'POST' && params) setRequestParser(() => params)
    },
  }
}

/** Limits the length and tokens of a document, and its introspection. */
function useTextLimits(): Plugin {
  return {
    onParse({ setParseFn }) {
      setParseFn((source, options) => parseDocument(typeof source === 'string' ? source : source.body, options))
    },
    onValidate({ addValidationRule }) {
      addValidationRule(introspectOnce(limits.complexity))
    },
  }
}

function useCostLimit(): Plugin {
  return {
    onExecute({ args, setResultAndStopExecution }) {
      const { result } = args.contextValue as unknown as ServerContext
      if (result) return setResultAndStopExecution(result)
      const refused = refuseCostly(args)
      if (refused) setResultAndStopExecution({ errors: [refused] })
    },
    onSubscribe({ setResultAndStopExecution }) {
      setResultAndStopExecution({
        errors: [failure('VALIDATION_ERROR', 'A subscription is a stream: ask with Accept: text/event-stream')],
      })
    },
  }
}

function useOneExecutor(): Plugin {
  return {
    onExecute({ setExecuteFn }) {
      setExecuteFn((args: ExecutionArgs) => {
        const { gateway, idempotency } = args.contextValue as ServerContext
        const isMutation = getOperationAST(args.document, args.operationName)?.operation === 'mutation'
        return executeOperation({
          schema: args.schema,
          document: args.document,
          operationName: args.operationName,
          variables: args.variableValues as Record<string, unknown>,
          context: isMutation ? { ...gateway, idempotency } : gateway,
        })
      })
    },
  }
}

/** Adds an error code to errors that GraphQL itself raises (syntax, unknown fields, limits). */
function useCodes(app: App): Plugin {
  return {
    onResultProcess({ result, setResult }) {
      if (Array.isArray(result) || !('errors' in result) || !result.errors) return
      setResult({ ...result, errors: result.errors.map((error) => withCode(app, error)) })
    },
  }
}

const codesByStatus: Record<number, ErrorCode> = {
  403: 'FORBIDDEN',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
}

function withCode(app: App, error: GraphQLError): GraphQLError {
  if (codeOf(error)) return error
  const { originalError: cause } = error
  if (cause && !(cause instanceof GraphQLError)) return publish(error, { app, requestId: '' })
  const http = error.extensions.http as { status?: number } | undefined
  return new GraphQLError(withoutSuggestion(error.message), {
    nodes: error.nodes,
    source: error.source,
    positions: error.positions,
    path: error.path,
    extensions: { ...(http && { http }), code: codesByStatus[http?.status ?? 400] ?? 'VALIDATION_ERROR' },
  })
}

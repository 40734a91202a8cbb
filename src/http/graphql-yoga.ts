// GraphQL itself: graphql-yoga with its limits, executing through the one executor.
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

/** What a request brings to its operation. */
export interface ServerContext {
  gateway: Context
  /** Of the `Idempotency-Key` header; for mutations alone. */
  idempotency: Idempotency | null
  /** What a POST's body holds; a GET is read by yoga itself. */
  params?: object
  /** What came of it, where it was executed already. */
  result?: ExecutionResult
}

export interface Graphql {
  /** Answers a request that was admitted. */
  answer: (url: string, init: RequestInit, context: ServerContext) => Promise<Response>
  /** Checked by GraphQL's own rules and the limits of a document, for whoever executes without `answer`. */
  documents: Documents
}

export function createGraphql(app: App, schema: GraphQLSchema): Graphql {
  const armor = new EnvelopArmor({
    // As `parseDocument` has it.
    maxTokens: { enabled: false },
    maxAliases: { n: limits.aliases },
    maxDirectives: { n: limits.directives },
    maxDepth: { n: limits.depth, flattenFragments: true },
    costLimit: { enabled: false },
    // It knows one of the forms that suggestions have.
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
    // It would keep a thousand documents of any length; those that come again are kept by `documents`.
    parserAndValidationCache: false,
    // Errors are made public where they happen, in the executor.
    maskedErrors: false,
    plugins: [
      // A browser sends none of these by itself, so no other site can make it ask in a user's name.
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

/** Yoga takes the body as it was parsed, within the gateway's own bounds. */
function useParsedBody(): Plugin<Record<string, never>, ServerContext> {
  return {
    onRequestParse({ request, serverContext: { params }, setRequestParser }) {
      if (request.method === 'POST' && params) setRequestParser(() => params)
    },
  }
}

/** Bounds the text of a document, and what it looks at of the schema. */
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

/** What GraphQL itself refuses (syntax, unknown fields, limits) is the caller's fault too, and says so by code. */
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

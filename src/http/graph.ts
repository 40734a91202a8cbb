// The GraphQL server: graphql-yoga parses, validates and executes every request through the plugins below. Its HTTP layer is not
// used: Fastify has read the request, and yoga's own `fetch` takes 130 to 260 µs a request, where this way takes 8 µs.
import { EnvelopArmor } from '@escape.tech/graphql-armor'
import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql'
import { createYoga, type Plugin, type YogaInitialContext } from 'graphql-yoga'
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import { codeOf, fail, failure } from '../core/errors.ts'
import { type BudgetLimits, wholeBudget } from '../core/graph/budget.ts'
import { executeOperation, publish } from '../core/graph/execute.ts'
import type { FollowArgs, Graph, GraphqlParams, Outcome } from '../core/graph/graph.ts'
import { operationOf, type Prepared, prepare } from '../core/graph/prepared.ts'
import { withoutSuggestion } from '../core/graph/refuse-variables.ts'
import { limits, refuseCostly } from './graphql-limits.ts'
import { introspectOnce } from './introspection-limits.ts'

/** State of one request, which its plugins share. */
interface State {
  gateway: Context
  /** Limits on what the operation may return and read. */
  limits: BudgetLimits
  /** True if the answer is a stream, so that subscriptions may run. */
  streams: boolean
  prepared?: Prepared
  executed?: boolean
  followed?: Extract<Outcome, { kind: 'source' }>
}

interface RequestContext {
  state: State
}

type Initial = YogaInitialContext & RequestContext

type StatePlugin = Plugin<RequestContext, RequestContext>

/** Required by `getResultForParams`. No plugin reads more than its method. */
const post = new Request('http://gateway/graphql', { method: 'POST' })

export function createGraph(app: App, schema: GraphQLSchema): Graph {
  const armor = new EnvelopArmor({
    // `prepare` limits the tokens instead.
    maxTokens: { enabled: false },
    maxAliases: { n: limits.aliases },
    maxDirectives: { n: limits.directives },
    maxDepth: { n: limits.depth, flattenFragments: true },
    costLimit: { enabled: false },
    // It recognizes only one of the forms of suggestions. `withoutSuggestion` removes them all.
    blockFieldSuggestion: { enabled: false },
  })
  const yoga = createYoga<RequestContext>({
    schema,
    logging: false,
    // This cache would hold a thousand documents of any length. `prepare` is the cache instead.
    parserAndValidationCache: false,
    // The executor masks errors where they occur.
    maskedErrors: false,
    plugins: [usePrepared(), ...(armor.protect().plugins as Plugin[]), useLimits(), useExecutor(), useCodes(app)],
  })
  const run = async (params: GraphqlParams, state: State) =>
    (await yoga.getResultForParams({ params, request: post }, { params, request: post, state } as Initial)) as ExecutionResult
  return {
    schema,
    run: (params, gateway, limits) => run(params, { gateway, limits, streams: false }),
    async open(params, gateway) {
      const state: State = { gateway, limits: wholeBudget, streams: true }
      const result = await run(params, state)
      return state.followed ?? { kind: state.executed ? 'result' : 'refused', result }
    },
  }
}

/** Parses and validates each document once. */
function usePrepared(): StatePlugin {
  return {
    onParse({ params: { source }, context: { params, state }, setParsedDocument }) {
      state.prepared = prepare(String(source))
      if (!operationOf(state.prepared.document, params.operationName)) {
        fail('VALIDATION_ERROR', "operationName: must name one of the document's operations")
      }
      setParsedDocument(state.prepared.document)
    },
    onValidate({ context: { state }, addValidationRule, setResult }) {
      const { prepared } = state
      if (prepared?.faults) return setResult(prepared.faults)
      addValidationRule(introspectOnce(limits.complexity))
      return ({ result }) => {
        if (prepared) prepared.faults = result as readonly GraphQLError[]
      }
    },
  }
}

/** Refuses operations that would cost too much, and subscriptions without a stream. */
function useLimits(): StatePlugin {
  return {
    onExecute({ args, setResultAndStopExecution }) {
      const refused = refuseCostly(args)
      if (refused) setResultAndStopExecution({ errors: [refused] })
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const { streams } = (args.contextValue as RequestContext).state
      const refused = streams
        ? refuseCostly(args)
        : failure('VALIDATION_ERROR', 'A subscription is a stream: send Accept: text/event-stream')
      if (refused) setResultAndStopExecution({ errors: [refused] })
    },
  }
}

function useExecutor(): StatePlugin {
  return {
    onExecute({ setExecuteFn }) {
      setExecuteFn((args: ExecutionArgs) => execute(args, (args.contextValue as RequestContext).state))
    },
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn((args: ExecutionArgs) => subscribe(args, (args.contextValue as RequestContext).state))
    },
  }
}

async function execute(args: ExecutionArgs, state: State): Promise<ExecutionResult> {
  state.executed = true
  const { schema, document, operationName, variableValues: variables } = args
  const isMutation = operationOf(document, operationName)?.node.operation === 'mutation'
  const context = isMutation ? state.gateway : { ...state.gateway, idempotency: null }
  return await executeOperation({ schema, document, operationName, variables, context, limits: state.limits })
}

/** Asks the subscription's field for its source. The hub of the process follows it (events/live). */
async function subscribe(args: ExecutionArgs, state: State): Promise<ExecutionResult> {
  const followed: FollowArgs = { ...args, contextValue: { ...state.gateway, idempotency: null } }
  const source = await createSourceEventStream(followed)
  if (!('errors' in source)) {
    state.followed = { kind: 'source', source, args: followed }
    return {}
  }
  state.executed = true
  // An error without a path is about the variables. `executeOperation` reports it by field, and stops before any resolver.
  if (source.errors?.some((error) => !error.path)) return await execute(args, state)
  return { ...source, errors: source.errors?.map((error) => publish(error, state.gateway)) }
}

/** Adds an error code to errors that GraphQL itself raises (syntax, unknown fields, limits). */
function useCodes(app: App): StatePlugin {
  return {
    onExecutionResult({ result, setResult }) {
      if (!result || !('errors' in result) || !result.errors) return
      setResult({ ...result, errors: result.errors.map((error) => withCode(app, error)) })
    },
  }
}

function withCode(app: App, error: GraphQLError): GraphQLError {
  const { originalError: cause } = error
  if (codeOf(error) && !error.extensions.http) return error
  if (cause && !(cause instanceof GraphQLError)) return publish(error, { app, requestId: '' })
  const { nodes, source, positions, path } = error
  return new GraphQLError(withoutSuggestion(error.message), {
    nodes,
    source,
    positions,
    path,
    extensions: { code: codeOf(error) ?? 'VALIDATION_ERROR' },
  })
}

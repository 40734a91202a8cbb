// Builds the HTTP server. All routes are mounted here.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { GraphQLSchema } from 'graphql'
import { mountRest, type RestGateway } from '../rest-compat/mount.ts'
import { describeAuth, mountAuth } from './accounts/sign-in/auth-routes.ts'
import { hostFor } from './app.ts'
import { mountStripeWebhook } from './billing/stripe/webhook.ts'
import { mountConsole } from './console/mount.ts'
import { importContacts } from './contacts/import/upload.ts'
import type { App } from './core/app.ts'
import type { Context } from './core/context.ts'
import { failure } from './core/errors.ts'
import { answerText } from './core/graph/answer.ts'
import { restBudget } from './core/graph/budget.ts'
import { executeOperation } from './core/graph/execute.ts'
import { inputs } from './core/graph/input.ts'
import { needsActive } from './core/graph/root-fields.ts'
import { stripFields } from './core/graph/strip-fields.ts'
import { readBodies, readBody } from './core/http/body.ts'
import { sendCsv } from './core/http/csv-answer.ts'
import { withoutEmpty } from './core/http/query.ts'
import { idempotencyOf, keepFailure } from './core/idempotency/idempotency.ts'
import { listenOn } from './core/network/listening.ts'
import { parse } from './core/validation.ts'
import { demoIds } from './demo/demo.ts'
import { createLinks, type Links } from './demo/links.ts'
import { eventDefinitions } from './event-types.ts'
import { plainStreamQuery } from './events/live/stream-plain.ts'
import { mountStreams } from './events/live/streams.ts'
import { type Authenticator, createAuthenticator, namedTeam } from './http/authenticate.ts'
import { createHttp, refuseUnknown } from './http/create.ts'
import { whileAllowed } from './http/export-check.ts'
import { takeExport } from './http/export-limit.ts'
import { createGraph } from './http/graph.ts'
import { mountGraphql } from './http/graphql.ts'
import { mountHealth } from './http/health.ts'
import { accessOfRoute, accessOnStream, streamAccess } from './http/key-access.ts'
import { download } from './media/download.ts'
import { mountMedia } from './media/routes.ts'
import { upload } from './media/upload.ts'
import { messageExamples } from './message-types/service.ts'
import { mountPages } from './pages/pages.ts'
import { mountProviders } from './providers/routes.ts'
import { schema } from './schema.ts'
import { importSuppressionFile } from './suppressions/import.ts'

export interface Server {
  /** Resolves with `http://HOST:PORT`, which clients on this machine can open. @throws EADDRINUSE when the port is taken, and other listen errors. */
  listen: () => Promise<string>
  /** One-time links that give a page the demo account's API key. */
  links: Links
  /** Stops accepting connections, ends streams with a hint to reconnect, and waits for running requests. */
  close: () => Promise<void>
}

export async function createServer(app: App): Promise<Server> {
  const http = await createHttp(app)
  const authenticator = createAuthenticator(app)
  const graph = createGraph(app, schema)
  http.decorateRequest('caller', null)
  const streams = await mountStreams(http, app, {
    graph,
    identify: async (request, reply) => {
      const caller = await authenticator.identify(request, reply)
      return () => caller.authorize({ scope: 'workspace', access: accessOnStream(request) })
    },
    plain: {
      '/api/v1/events/stream': (request, reply) =>
        authenticator.admitKey(request, reply, { scope: 'workspace', access: streamAccess }),
      '/api/events/stream': (request, reply) => authenticator.admitPerson(request, reply, namedTeam(request)),
    },
  })
  const taken = new Map<string, Set<string>>([
    ['/api/v1/events/stream', new Set(['GET'])],
    ['/api/events/stream', new Set(['GET'])],
    ['/graphql/stream', new Set(['GET', 'POST', 'PUT', 'DELETE'])],
  ])
  await http.register(async (scope) => mountJson(scope))
  const links = createLinks()
  const pages = mountPages(http, app, links)
  for (const [path, methods] of pages.taken) taken.set(path, methods)
  mountGraphql(http, app, { graph, authenticator, streams, explore: pages.explore })
  const others = [
    ...mountConsole(http, app),
    ...mountHealth(http, app),
    ...(await mountMedia(http, app)),
    ...mountStripeWebhook(http, app),
    ...(await mountProviders(http, app, (name) => hostFor(app, name))),
  ]
  for (const [path, methods] of others) taken.set(path, methods)
  refuseUnknown(http, taken)

  /** Mounts the REST surfaces, whose bodies are JSON. */
  function mountJson(scope: FastifyInstance): void {
    readBodies(scope, readBody)
    const mounted = [
      ...mountRest(scope, publicSurface(app, schema, authenticator)),
      ...mountRest(scope, consoleSurface(app, schema, authenticator)),
      ...mountAuth(scope, app, '/api/auth'),
    ]
    for (const [path, methods] of mounted) taken.set(path, methods)
  }

  return {
    links,
    async listen() {
      return await listenOn(http, app.config, { port: app.config.port, variable: 'PORT' })
    },
    async close() {
      await http.close()
    },
  }
}

/** REST surface for API keys. */
function publicSurface(app: App, graph: GraphQLSchema, authenticator: Authenticator): RestGateway<Context> {
  const admit = (request: FastifyRequest, reply: FastifyReply, route: RestRoute) =>
    authenticator.admitKey(request, reply, { scope: route.scope, access: accessOfRoute(route) })
  return { prefix: '/api/v1', surface: 'public', ...restSurface(app, graph, admit) }
}

/** REST surface for signed-in people. A team in the path takes precedence over the `X-Team-Id` header. */
function consoleSurface(app: App, graph: GraphQLSchema, authenticator: Authenticator): RestGateway<Context> {
  return {
    prefix: '/api',
    surface: 'console',
    ...restSurface(app, graph, (request, reply, route) => {
      const { scope } = route
      const ofTeam = 'ofTeam' in route && route.ofTeam
      if (ofTeam) return authenticator.admitPerson(request, reply, (request.params as Record<string, string>)[ofTeam])
      return authenticator.admitPerson(request, reply, scope === 'account' || scope === 'open' ? undefined : namedTeam(request))
    }),
  }
}

type RestRoute = Parameters<RestGateway<Context>['admit']>[2]
type Admit = RestGateway<Context>['admit']

function restSurface(app: App, graph: GraphQLSchema, open: Admit): Omit<RestGateway<Context>, 'prefix' | 'surface'> {
  return {
    api: {
      graph,
      inputs,
      needsActive: (document) => needsActive(graph, document),
      streamQuery: plainStreamQuery,
      events: eventDefinitions,
      identity: describeAuth('/auth'),
      publicUrl: app.config.publicUrl,
      demo: demoIds,
      messageExamples: messageExamples(demoIds),
    },
    async admit(request, reply, route) {
      const context = { ...(await open(request, reply, route)), response: reply.raw }
      const document = 'document' in route && route.document
      if (document && !context.principal.active && needsActive(graph, document)) throw failure('SUBSCRIPTION_INACTIVE')
      return context
    },
    idempotencyOf: (request) => idempotencyOf(request, request.fingerprint),
    execute: ({ document, variables, context, idempotency, isPart }) =>
      executeOperation({
        schema: graph,
        document,
        variables,
        context: { ...context, idempotency, ...(isPart && { response: undefined }) },
        limits: restBudget,
      }),
    textOf: answerText,
    keep: (error, context, idempotency) => keepFailure({ ...context, idempotency }, error),
    files: { upload, download, importContacts, importSuppressions: importSuppressionFile },
    sendCsv: async (request, reply, file, context) => {
      takeExport(context.principal.workspaceId, reply.raw)
      return await sendCsv(request, reply, { ...file, pages: whileAllowed(context, file.pages) })
    },
    withoutEmpty,
    stripFields: (input, body) => stripFields(app.config, input, body),
    parse,
  }
}

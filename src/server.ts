// HTTP: the one place that mounts things.
import type { FastifyInstance } from 'fastify'
import type { GraphQLSchema } from 'graphql'
import { mountRest } from '../rest-compat/mount.ts'
import type { App } from './core/app.ts'
import { executeOperation, prune } from './core/execute.ts'
import { createHttp, refuseOtherMethods } from './core/http.ts'
import { parse } from './core/validation.ts'
import { type Door, openDoor } from './door.ts'
import { mountStreams } from './events/streams.ts'
import { mountGraphql } from './graphql.ts'
import { mountHealth } from './health.ts'
import { schema } from './schema.ts'

export interface Server {
  /** Resolves with `http://HOST:PORT`. @throws EADDRINUSE and its like. */
  listen: () => Promise<string>
  /** Stops accepting, ends streams with a hint to come back, lets requests finish. */
  close: () => Promise<void>
}

/** Builds the server of every surface. */
export async function createServer(app: App): Promise<Server> {
  const http = await createHttp(app)
  const door = openDoor(app)
  const streams = await mountStreams(http, app, { schema, openContext: (request) => door.openStream(request) })
  const taken = new Map<string, Set<string>>([['/api/v1/events/stream', new Set(['GET'])]])
  await http.register(async (scope) => mountJson(scope))
  mountGraphql(http, app, { schema, door, streams })
  for (const [path, methods] of mountHealth(http, app)) taken.set(path, methods)
  refuseOtherMethods(http, taken)

  /** The surfaces whose bodies are JSON. */
  function mountJson(scope: FastifyInstance): void {
    parseJsonStrictly(scope)
    const rest = mountRest(scope, restDoor(schema, door))
    for (const [path, methods] of rest) taken.set(path, methods)
  }

  return {
    listen: () => http.listen({ port: app.config.port, host: app.config.host }),
    async close() {
      await http.close()
    },
  }
}

function restDoor(graph: GraphQLSchema, door: Door): Parameters<typeof mountRest>[1] {
  return {
    prefix: '/api/v1',
    surface: 'public',
    admit: (request, reply, reach) => door.open(request, reply, reach),
    execute: ({ document, variables, context, repeatable }) => {
      const operation = { schema: graph, document, variables }
      return executeOperation({
        ...operation,
        context: { ...(context as Awaited<ReturnType<Door['open']>>), idempotency: repeatable },
      })
    },
    prune,
    parse,
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** JSON bodies only, as UTF-8 only; the bytes are kept for Idempotency-Key. */
function parseJsonStrictly(scope: FastifyInstance): void {
  const parseText = scope.getDefaultJsonParser('error', 'error')
  scope.removeAllContentTypeParsers()
  scope.decorateRequest('bytes', null)
  scope.addContentTypeParser(
    /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i,
    { parseAs: 'buffer' },
    (request, body, done) => {
      const bytes = body as Buffer
      request.bytes = bytes
      if (bytes.length === 0) return done(null, undefined)
      let text: string
      try {
        text = utf8.decode(bytes)
      } catch {
        return done(Object.assign(new Error('not UTF-8'), { statusCode: 400 }))
      }
      void parseText(request, text, done)
    },
  )
}

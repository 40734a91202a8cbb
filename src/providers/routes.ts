// HTTP routes of providers, which their networks call with a signature in place of a credential of ours.
import type { FastifyInstance } from 'fastify'
import type { App } from '../core/app.ts'
import { fail } from '../core/errors.ts'
import { readBodies, readBytes } from '../core/http/body.ts'
import type { ProviderHost, ProviderName, StoredInstance } from './provider.ts'
import { providers } from './providers.ts'

/** Mounts the routes of all providers. Returns the methods of each path. */
export async function mountProviders(
  http: FastifyInstance,
  app: App,
  hostOf: (name: ProviderName) => ProviderHost<StoredInstance>,
): Promise<Map<string, Set<string>>> {
  const mounted = new Map<string, Set<string>>()
  await http.register(async (scope) => {
    // Anybody can send to these routes, so large bodies wait for memory before they are read.
    readBodies(scope, readBytes)
    for (const { name, routes = [] } of providers(app).values()) {
      const host = hostOf(name)
      for (const { method, path, maxBodyBytes, values, answer } of routes) {
        const url = `/providers/${name}${path}`
        mounted.set(url, (mounted.get(url) ?? new Set()).add(method))
        scope.route<{ Params: Record<string, string>; Body: Buffer | undefined }>({
          method,
          url,
          bodyLimit: maxBodyBytes,
          config: { values },
          handler: async ({ params, headers, raw, body = Buffer.alloc(0) }, reply) => {
            if (app.stopping) fail('SERVICE_UNAVAILABLE')
            const query = new URLSearchParams((raw.url as string).split('?')[1])
            const answered = await answer({ params, query, headers, body }, host)
            return await reply
              .code(answered.status)
              .type(answered.type ?? 'text/plain')
              .send(answered.body ?? '')
          },
        })
      }
    }
  })
  return mounted
}

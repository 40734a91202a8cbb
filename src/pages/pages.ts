// Pages for people: the REST reference at /docs, and GraphiQL. They load nothing from other servers.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../core/app.ts'
import { sendError } from '../core/http/error-answer.ts'
import { preferencesIn } from '../core/http/preferences.ts'
import { demoIds } from '../demo/demo.ts'
import { type Links, mountDemoKey } from '../demo/links.ts'
import { assetOf, readPageFile } from './assets.ts'
import { graphiqlTabs } from './graphiql-tabs.ts'
import { kept } from './kept.ts'

/** Answers a browser that opens `/graphql` with GraphiQL. Returns null for every other request, and in production. */
export type Explore = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | null

/** Registers the pages and their assets. Returns the methods of each path. */
export function mountPages(http: FastifyInstance, app: App, links: Links): { taken: Map<string, Set<string>>; explore: Explore } {
  http.get('/docs', (request, reply) => show(request, reply, 'reference.html'))
  http.get<{ Params: { name: string } }>('/docs/assets/:name', async (request, reply) => {
    const asset = await assetOf(request.params.name)
    if (!asset) return sendError(reply, 'NOT_FOUND')
    secure(reply).header('ETag', asset.etag).header('Cache-Control', 'no-cache').header('Vary', 'Accept-Encoding')
    if (request.headers['if-none-match'] === asset.etag) return await reply.code(304).send()
    reply.type(asset.type)
    if (!preferencesIn(request.headers['accept-encoding']).includes('gzip')) return await reply.send(asset.bytes)
    return await reply.header('Content-Encoding', 'gzip').send(asset.gzipped)
  })
  mountDemoKey(http, app, links)
  return {
    taken: new Map([
      ...['/docs', '/docs/assets/:name'].map((path) => [path, new Set(['GET'])] as const),
      ['/docs/key', new Set(['POST'])],
    ]),
    explore(request, reply) {
      const { method, headers } = request
      const isBrowser = method === 'GET' && headers.accept?.includes('text/html') && !headers['x-api-key']
      if (app.config.production || !isBrowser) return null
      return show(request, reply, 'explorer.html', { tabs: graphiqlTabs(demoIds) })
    },
  }
}

/** Policy of every page: scripts, styles, images and requests of this origin only, and no inline script. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  // Scalar and GraphiQL insert styles.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** A page with the form for the key, if it has a place for it. */
const pageOf = kept(async (file) => {
  const [page, form] = await Promise.all([readPageFile(file), readPageFile('key-form.html')])
  return page.replace('{{key-form}}', form)
})

/**
 * Sends a page. `settings` are what its script reads as JSON from `document.body.dataset.settings`. With a trailing slash, the browser is sent
 * to the address without it: what a page loads is relative to that, so that it works below any path.
 */
async function show({ url }: FastifyRequest, reply: FastifyReply, file: string, settings: object = {}): Promise<FastifyReply> {
  // A query may end with a slash too.
  const [, name, query = ''] = url.match(/^[^?]*\/([^/?]+)\/(\?.*)?$/) ?? []
  if (name !== undefined) return await reply.redirect(`../${name}${query}`, 308)
  const page = await pageOf(file)
  return await secure(reply)
    .header('Content-Security-Policy', contentSecurityPolicy)
    .header('Cache-Control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(page.replace('{{settings}}', () => escapeAttribute(JSON.stringify(settings))))
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
}

function secure(reply: FastifyReply): FastifyReply {
  return reply.header('Cross-Origin-Opener-Policy', 'same-origin').header('Cross-Origin-Resource-Policy', 'same-origin')
}

// The pages for people: the reference of both surfaces of the REST API at /docs, GraphiQL, and where links in mails lead. Nothing of theirs comes from elsewhere.
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { mountAccountPages, type ShowHtml } from './account-pages.ts'
import { isWithin } from './core/address.ts'
import type { App } from './core/app.ts'
import { sendError } from './core/http.ts'
import { demoIds, demoKey } from './demo.ts'
import { graphiqlTabs } from './graphiql-tabs.ts'
import { assetOf } from './page-assets.ts'

/** Answers a browser that looks at `/graphql`; null for every other request, and in production. */
export type Explore = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | null

interface Page {
  title: string
  head?: string
  scripts: readonly string[]
  /** JavaScript that starts it, with `settings`. */
  start: string
}

const reference: Page = {
  title: 'Messaging gateway API',
  scripts: ['/docs/assets/scalar.js'],
  start: "Scalar.createApiReference('#root', settings)",
}

const explorer: Page = {
  title: 'Messaging gateway GraphQL',
  // Its tabs begin where no first click meets them: an animation of theirs never ends.
  head: `<link rel="stylesheet" href="/docs/assets/graphiql.css">
<style>.graphiql-tab { transform: none !important }</style>`,
  scripts: ['/docs/assets/graphiql.js'],
  start: `const workers = { json: 'json', graphql: 'graphql' }
self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_, label) => '/docs/assets/' + (workers[label] ?? 'editor') + '-worker.js' }
YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), settings)`,
}

/** Registers `/docs` and what the pages load; answers which methods each path takes. */
export function mountPages(http: FastifyInstance, app: App): { taken: Map<string, Set<string>>; explore: Explore } {
  http.get('/docs', async (request, reply) => show(reply, reference, referenceSettings(await keyFor(app, request))))
  http.get<{ Params: { name: string } }>('/docs/assets/:name', async (request, reply) => {
    const asset = await assetOf(request.params.name)
    if (!asset) return sendError(reply, 'NOT_FOUND')
    secure(reply).header('ETag', asset.etag).header('Cache-Control', 'no-cache').header('Vary', 'Accept-Encoding')
    if (request.headers['if-none-match'] === asset.etag) return await reply.code(304).send()
    reply.type(asset.type)
    if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return await reply.send(asset.bytes)
    return await reply.header('Content-Encoding', 'gzip').send(asset.gzipped)
  })
  return {
    taken: new Map([
      ...['/docs', '/docs/assets/:name'].map((path) => [path, new Set(['GET'])] as const),
      ...mountAccountPages(http, app, showHtml),
    ]),
    explore(request, reply) {
      const { method, headers } = request
      const isBrowser = method === 'GET' && headers.accept?.includes('text/html') && !headers['x-api-key']
      if (app.config.production || !isBrowser) return null
      return keyFor(app, request).then((key) => show(reply, explorer, explorerSettings(key)))
    },
  }
}

/**
 * The demo's key, for a person at this machine and for nobody else: not in production, not where others reach the gateway,
 * and not for a page that calls this machine by another name.
 */
async function keyFor(app: App, request: FastifyRequest): Promise<string | undefined> {
  const { demo, production, publicUrl } = app.config
  if (!demo || production || publicUrl !== app.address) return undefined
  const { host = '', forwarded, 'x-forwarded-for': forwardedFor } = request.headers
  const isHere = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host) && !forwarded && !forwardedFor
  if (!isHere || !isWithin(request.socket.remoteAddress ?? '', ['127.0.0.0/8', '::1/128'])) return undefined
  return await demoKey(app)
}

/** Of both documents, the one for keys first; each is shown with its own way to be let in. */
function referenceSettings(key: string | undefined): object[] {
  const ofEach = {
    // Without these it would load fonts and call services of its maker.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
    persistAuth: false,
    orderSchemaPropertiesBy: 'preserve',
  }
  return [
    {
      ...ofEach,
      title: 'API, with a key',
      slug: 'api',
      url: '/api/v1/openapi.json',
      default: true,
      authentication: { preferredSecurityScheme: 'ApiKey', securitySchemes: { ApiKey: { value: key ?? '' } } },
    },
    {
      ...ofEach,
      title: 'Console, signed in',
      slug: 'console',
      url: '/api/openapi.json',
      authentication: { preferredSecurityScheme: 'AccessToken' },
    },
  ]
}

function explorerSettings(key: string | undefined): object {
  const headers = JSON.stringify({ 'x-api-key': key ?? 'svc_live_…' }, null, 2)
  const tabs = graphiqlTabs(demoIds).map((tab) => ({ ...tab, headers }))
  return {
    title: explorer.title,
    endpoint: '/graphql',
    subscriptionsProtocol: 'SSE',
    // A browser must not keep keys.
    shouldPersistHeaders: false,
    ...(key && { additionalHeaders: { 'x-api-key': key } }),
    // The first is open at first; it finds it among the tabs that it kept by what is in it.
    ...tabs[0],
    defaultHeaders: headers,
    defaultTabs: tabs,
  }
}

function show(reply: FastifyReply, { title, head = '', scripts, start }: Page, settings: object): FastifyReply {
  return showHtml(reply, {
    title,
    head,
    body: `<div id="root"></div>
<noscript>This page needs JavaScript. The API's documents are at /api/v1/openapi.json and /api/openapi.json.</noscript>
<script type="application/json" id="settings">${JSON.stringify(settings).replaceAll('<', '\\u003c')}</script>
${scripts.map((script) => `<script src="${script}"></script>`).join('\n')}`,
    program: `const settings = JSON.parse(document.getElementById('settings').textContent)\n${start}`,
  })
}

const showHtml: ShowHtml = (reply, { title, head, body, program }) => {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
${head}
</head>
<body>
${body}
<script>${program}</script>
</body>
</html>
`
  return secure(reply)
    .header('Content-Security-Policy', policyFor(program))
    .header('Cache-Control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(html)
}

/** Scripts from here and the one that starts the page, styles that scripts make, requests to here, and nothing else. */
function policyFor(program: string): string {
  const hash = createHash('sha256').update(program).digest('base64')
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function secure(reply: FastifyReply): FastifyReply {
  return reply.header('Cross-Origin-Opener-Policy', 'same-origin').header('Cross-Origin-Resource-Policy', 'same-origin')
}

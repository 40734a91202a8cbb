// Pages for people: the REST reference at /docs, GraphiQL, and the account pages. They load nothing from other servers.
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../core/app.ts'
import { sendError } from '../core/http/error-answer.ts'
import { demoIds } from '../demo/demo.ts'
import { type Links, mountDemoKey } from '../demo/links.ts'
import { mountAccountPages, type ShowHtml } from './account-pages.ts'
import { assetOf } from './assets.ts'
import { graphiqlTabs } from './graphiql-tabs.ts'
import { keyForm, keyProgram, keyStyle } from './key-form.ts'

/** Answers a browser that opens `/graphql` with GraphiQL. Returns null for every other request, and in production. */
export type Explore = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null

interface Page {
  title: string
  head?: string
  scripts: readonly string[]
  /** JavaScript function that renders the page with a key. It can use `settings`, and `base`, the base URL of the gateway. */
  begin: string
}

const reference: Page = {
  title: 'Messaging gateway API',
  scripts: ['docs/assets/scalar.js'],
  begin: `(key) => {
  const shown = settings.map((one) => ({ ...one, url: base + one.url }))
  shown[0].authentication.securitySchemes = { ApiKey: { value: key } }
  Scalar.createApiReference('#root', shown)
}`,
}

const explorer: Page = {
  title: 'Messaging gateway GraphQL',
  // Disables the tab animation: it never ends, so tabs would start at a place that misses the first click.
  head: `<link rel="stylesheet" href="docs/assets/graphiql.css">
<style>.graphiql-tab { transform: none !important } #root > div, .graphiql-container { height: 100% !important; width: 100% !important }</style>`,
  scripts: ['docs/assets/graphiql.js'],
  begin: `(key) => {
  const workers = { json: 'json', graphql: 'graphql' }
  self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_, label) => base + 'docs/assets/' + (workers[label] ?? 'editor') + '-worker.js' }
  const headers = key ? { 'x-api-key': key } : {}
  YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), { ...settings, endpoint: base + 'graphql', additionalHeaders: headers })
}`,
}

/** Registers `/docs` and its assets. Returns the methods of each path. */
export function mountPages(http: FastifyInstance, app: App, links: Links): { taken: Map<string, Set<string>>; explore: Explore } {
  http.get('/docs', async (_, reply) => show(reply, reference, referenceSettings()))
  mountDemoKey(http, app, links)
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
      ['/docs/key', new Set(['POST'])],
      ...mountAccountPages(http, app, showHtml),
    ]),
    explore(request, reply) {
      const { method, headers } = request
      const isBrowser = method === 'GET' && headers.accept?.includes('text/html') && !headers['x-api-key']
      if (app.config.production || !isBrowser) return null
      return show(reply, explorer, explorerSettings())
    },
  }
}

/** Settings of both API documents: the one for API keys first, each with its own authentication scheme. */
function referenceSettings(): object[] {
  const ofEach = {
    // Without these, Scalar loads fonts from, and calls services of, its vendor.
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
      url: 'api/v1/openapi.json',
      default: true,
      authentication: { preferredSecurityScheme: 'ApiKey' },
    },
    {
      ...ofEach,
      title: 'Console, signed in',
      slug: 'console',
      url: 'api/openapi.json',
      authentication: { preferredSecurityScheme: 'AccessToken' },
    },
  ]
}

function explorerSettings(): object {
  const tabs = graphiqlTabs(demoIds)
  return {
    title: explorer.title,
    subscriptionsProtocol: 'SSE',
    // Keeps API keys out of the browser's storage.
    shouldPersistHeaders: false,
    // Opens the first tab. GraphiQL identifies it among the stored tabs by its content.
    ...tabs[0],
    defaultTabs: tabs,
  }
}

function show(reply: FastifyReply, { title, head = '', scripts, begin }: Page, settings: object): FastifyReply {
  return showHtml(reply, {
    title,
    head: `<style>${keyStyle}</style>\n${head}`,
    body: `${keyForm}
<div id="root"></div>
<noscript>This page needs JavaScript. The API's documents are at /api/v1/openapi.json and /api/openapi.json.</noscript>
<script type="application/json" id="settings">${JSON.stringify(settings).replaceAll('<', '\\u003c')}</script>
${scripts.map((script) => `<script src="${script}"></script>`).join('\n')}`,
    program: `${keyProgram}\nconst begin = ${begin}`,
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

/** Content Security Policy: scripts of this origin and the inline script of the page, inline styles, requests to this origin only. */
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

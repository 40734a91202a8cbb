// Serves the console: its shell at the addresses of its pages, and its assets.
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../core/app.ts'
import { sendError } from '../core/http/error-answer.ts'
import { preferencesIn } from '../core/http/preferences.ts'
import { builtFolder, type Manifest, readManifest } from './manifest.ts'
import { policyFor } from './policy.ts'

/** The addresses that the shell answers. All other unknown paths are answered as JSON. */
const addresses = [
  ...['/', '/sign-in', '/sign-up', '/reset-password', '/verify-email', '/invitation', '/billing', '/account', '/operator'],
  ...['/me', '/me/*', '/t/:teamId', '/t/:teamId/*'],
]
const assetPath = '/console/assets/:name'
const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

interface Shell {
  html: string
  policy: string
}

/** Registers the pages and assets. Returns the methods of each path. With a CONSOLE_URL the pages are served there instead. */
export function mountConsole(http: FastifyInstance, app: App): Map<string, Set<string>> {
  const manifest = readManifest()
  if (manifest && !app.config.consoleUrl) tellBuild(http, buildOf(manifest))
  const shell = manifest ? readShell(app, manifest) : { html: missing, policy: policyFor([]) }
  for (const address of addresses) {
    http.get(address, async (request, reply) =>
      app.config.consoleUrl ? sendError(reply, 'NOT_FOUND') : await show(request, reply, shell),
    )
  }
  http.get<{ Params: { name: string } }>(assetPath, (request, reply) => sendAsset(request, reply, manifest))
  return new Map([...addresses, assetPath].map((address) => [address, new Set(['GET'])]))
}

/** The name of a build. */
function buildOf({ inputs }: Manifest): string {
  return inputs.slice(0, 16)
}

/**
 * Names the build in answers of `/graphql` to pages, so that a page that was loaded before an upgrade finds out. Browsers send the origin
 * with such requests; other clients get no further header. Scopes that are open already keep the hooks that they began with.
 */
function tellBuild(http: FastifyInstance, build: string): void {
  http.addHook('onRequest', (request, reply, done) => {
    if (request.headers.origin !== undefined) reply.header('X-Console-Build', build)
    done()
  })
}

/** Reads the shell, once. Its relative addresses become absolute, because it answers addresses of any depth. */
function readShell({ config, secrets }: App, manifest: Manifest): Shell {
  const file = path.join(builtFolder, 'index.html')
  const base = config.publicUrl ? new URL(config.publicUrl).pathname.replace(/\/$/, '') : ''
  const settings = { base, provider: secrets.oidc?.id ?? null, signUp: config.signUp !== 'closed', build: buildOf(manifest) }
  const html = readFileSync(file, 'utf8')
    .replaceAll('"./assets/', `"${base}/console/assets/`)
    .replace('{{settings}}', () => JSON.stringify(settings).replaceAll('&', '&amp;').replaceAll('"', '&quot;'))
  const inline = [...html.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script]) => script as string)
  return { html, policy: policyFor(inline) }
}

/** Says what is wrong if nothing was built. The API works without the console. */
const missing = `<!doctype html><html lang="en"><meta charset="utf-8"><title>No console</title><h1>The console was not built</h1>
<p>Run <code>npm install</code> in the folder of the gateway, and start the gateway again. The API works without the console.</p></html>`

/** Browsers apply an opener policy only to origins that nobody can forge, and log an error elsewhere. */
function isTrustworthy({ protocol, hostname }: FastifyRequest): boolean {
  return protocol === 'https' || /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
}

async function show(request: FastifyRequest, reply: FastifyReply, { html, policy }: Shell): Promise<FastifyReply> {
  if (isTrustworthy(request)) reply.header('Cross-Origin-Opener-Policy', 'same-origin')
  return await reply
    .header('Cross-Origin-Resource-Policy', 'same-origin')
    .header('Content-Security-Policy', policy)
    .header('Cache-Control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(html)
}

async function sendAsset(
  request: FastifyRequest<{ Params: { name: string } }>,
  reply: FastifyReply,
  manifest: Manifest | undefined,
): Promise<FastifyReply> {
  const { name } = request.params
  const file = path.join(builtFolder, 'assets', name)
  // Only names of the manifest are read, so a request cannot reach other files.
  if (!manifest || !Object.hasOwn(manifest.assets, name) || !existsSync(file)) return sendError(reply, 'NOT_FOUND')
  const accepted = preferencesIn(request.headers['accept-encoding'])
  const [encoding, suffix] = accepted.includes('br') ? ['br', '.br'] : accepted.includes('gzip') ? ['gzip', '.gz'] : []
  if (encoding) reply.header('Content-Encoding', encoding)
  return await reply
    .header('Cross-Origin-Resource-Policy', 'same-origin')
    .header('Cache-Control', 'public, max-age=31536000, immutable')
    .header('Vary', 'Accept-Encoding')
    .type(types[path.extname(name)] ?? 'application/octet-stream')
    .send(await readFile(file + (suffix ?? '')))
}

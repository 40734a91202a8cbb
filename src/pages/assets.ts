// Static assets of the pages: Scalar and GraphiQL, served from their npm packages instead of a CDN.
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import Fastify from 'fastify'

export interface Asset {
  type: string
  /** Hash of the content, for `If-None-Match`. */
  etag: string
  bytes: Buffer
  gzipped: Buffer
}

const javascript = 'text/javascript; charset=utf-8'

/** Assets are loaded on first request. Together they are 14 MB of text, which most gateways never serve. */
const sources: Record<string, { type: string; read: () => Promise<string> }> = {
  'scalar.js': { type: javascript, read: readScalar },
  'graphiql.js': { type: javascript, read: async () => (await graphiql()).js },
  'graphiql.css': { type: 'text/css; charset=utf-8', read: async () => (await graphiql()).css },
  'editor-worker.js': { type: javascript, read: async () => (await graphiql()).editorWorkerService },
  'json-worker.js': { type: javascript, read: async () => (await graphiql()).jsonWorker },
  'graphql-worker.js': { type: javascript, read: async () => (await graphiql()).graphqlWorker },
}

const made = new Map<string, Promise<Asset>>()

/** The asset of that name; undefined if there is none. */
export function assetOf(name: string): Promise<Asset> | undefined {
  const source = Object.hasOwn(sources, name) ? sources[name] : undefined
  if (!source) return undefined
  let asset = made.get(name)
  if (!asset) {
    asset = source.read().then((text) => makeAsset(source.type, text))
    made.set(name, asset)
  }
  return asset
}

function makeAsset(type: string, text: string): Asset {
  const bytes = Buffer.from(text)
  return { type, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"`, bytes, gzipped: gzipSync(bytes) }
}

async function graphiql() {
  return await import('@graphql-yoga/render-graphiql/graphiql')
}

/** The package exposes its script only as a Fastify plugin, so a server that does not listen reads it. */
async function readScalar(): Promise<string> {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const scratch = Fastify()
  await scratch.register(reference, { routePrefix: '/', configuration: { url: '/' } })
  const { payload } = await scratch.inject('/js/scalar.js')
  await scratch.close()
  return payload
}

// Files of the pages: our own, and the scripts of Scalar and GraphiQL from their npm packages instead of a CDN.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { kept } from './kept.ts'

export interface Asset {
  type: string
  /** Hash of the content, for `If-None-Match`. */
  etag: string
  bytes: Buffer
  gzipped: Buffer
}

/** Assets are loaded on first request. Together they are 14 MB of text, which most gateways never serve. */
const sources: Record<string, () => Promise<string>> = {
  ...Object.fromEntries(
    ['key-form.css', 'key-form.js', 'reference.js', 'explorer.css', 'explorer.js'].map((name) => [
      name,
      () => readPageFile(name),
    ]),
  ),
  'scalar.js': readScalar,
  'graphiql.js': async () => (await graphiql()).js,
  'graphiql.css': async () => (await graphiql()).css,
  'editor-worker.js': async () => (await graphiql()).editorWorkerService,
  'json-worker.js': async () => (await graphiql()).jsonWorker,
  'graphql-worker.js': async () => (await graphiql()).graphqlWorker,
}

const made = kept(async (name) => {
  const text = await (sources[name] as () => Promise<string>)()
  return makeAsset(name.endsWith('.css') ? 'text/css' : 'text/javascript', text)
})

/** The asset of that name; undefined if there is none. */
export function assetOf(name: string): Promise<Asset> | undefined {
  return Object.hasOwn(sources, name) ? made(name) : undefined
}

/** A file of this folder. `name` is one of ours, never a part of a request. */
export function readPageFile(name: string): Promise<string> {
  return readFile(new URL(name, import.meta.url), 'utf8')
}

function makeAsset(type: string, text: string): Asset {
  const bytes = Buffer.from(text)
  const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`
  return { type: `${type}; charset=utf-8`, etag, bytes, gzipped: gzipSync(bytes) }
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

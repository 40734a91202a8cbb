// Serves the OpenAPI document of a surface. Builds it at the first request and caches the bytes.
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Surface } from '../route.ts'
import { type ApiSource, describeApi } from './document.ts'

export function serveDocument(http: FastifyInstance, url: string, source: ApiSource, surface: Surface): void {
  let made: { bytes: Buffer; etag: string } | undefined
  http.get(url, async (request, reply) => {
    made ??= makeDocument(source, surface)
    const { bytes, etag } = made
    reply.header('ETag', etag).header('Cache-Control', 'no-cache')
    if (isKnown(request.headers['if-none-match'], etag)) return await reply.code(304).send()
    return await reply.type('application/json; charset=utf-8').send(bytes)
  })
}

function makeDocument(source: ApiSource, surface: Surface): { bytes: Buffer; etag: string } {
  const bytes = Buffer.from(JSON.stringify(describeApi(source, surface)))
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }
}

function isKnown(given = '', etag: string): boolean {
  const tags = given.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}

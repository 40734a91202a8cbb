// Download endpoints of media files: by id with a credential, and by public URL without one.
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { allowLongStall } from '../core/http/connection.ts'
import { parse, uuid } from '../core/validation.ts'
import type { Media } from '../generated/prisma/client.ts'
import { exactly } from './exactly.ts'
import { type MediaType, mediaTypes } from './kinds.ts'
import { mediaStore } from './open-store.ts'
import { readRange } from './range.ts'
import { findByName, findMedia } from './service.ts'
import type { ByteRange } from './store.ts'

/**
 * Answers `GET media/{id}`.
 * @throws VALIDATION_ERROR when the id is malformed, NOT_FOUND when the workspace has no such file.
 */
export async function download(request: FastifyRequest, reply: FastifyReply, ctx: Context): Promise<FastifyReply> {
  const media = await findMedia(ctx, parse(uuid, (request.params as { id: string }).id, 'id'))
  return await sendFile(ctx.app, request, reply, media, {
    'Cache-Control': 'private, no-cache',
    'Cross-Origin-Resource-Policy': 'same-origin',
  })
}

/**
 * Answers `GET /media/{token}.{extension}` for any client.
 * @throws NOT_FOUND when no file has this name.
 */
export async function downloadByName(app: App, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const media = await findByName(app, (request.params as { name: string }).name)
  return await sendFile(app, request, reply, media, {
    // The content of a public URL never changes, and other sites may embed it.
    'Cache-Control': 'public, max-age=31536000, immutable',
    'Cross-Origin-Resource-Policy': 'cross-origin',
  })
}

async function sendFile(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  media: Media,
  access: Record<string, string>,
): Promise<FastifyReply> {
  const { 'if-range': ifRange, range: header } = request.headers
  const headers = { ...headersOf(media), ...access }
  if (isKnown(request, headers)) return await reply.code(304).headers(headers).send()
  // With `If-Range`, a partial response is correct only for the same file. HTTP defines no ranges for HEAD.
  const takesPart = request.method === 'GET' && (ifRange === undefined || ifRange === headers.ETag)
  const part = takesPart ? readRange(header, media.size) : null
  if (part === undefined) return await refuseRange(reply, media.size)
  const range = part ?? { start: 0, end: media.size - 1 }
  const bytes = request.method === 'HEAD' ? undefined : await open(app, media, range)
  reply.headers(headers).header('Content-Length', range.end - range.start + 1)
  if (part) reply.code(206).header('Content-Range', `bytes ${range.start}-${range.end}/${media.size}`)
  allowLongStall(reply.raw)
  return await reply.send(bytes)
}

/** The browser keeps to the declared type (nosniff) and runs nothing of the file (CSP sandbox), for any bytes. */
function headersOf({ id, mimeType, createdAt }: Media) {
  const { inline, extension } = mediaTypes.get(mimeType) as MediaType
  return {
    'Content-Type': mimeType === 'text/plain' ? 'text/plain; charset=utf-8' : mimeType,
    'Content-Disposition': `${inline ? 'inline' : 'attachment'}; filename="${id}.${extension}"`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
    'Accept-Ranges': 'bytes',
    'Last-Modified': createdAt.toUTCString(),
    ETag: `"${id}"`,
  }
}

/** True if the client's copy is current. `If-Modified-Since` counts only when there is no `If-None-Match`. */
function isKnown({ headers }: FastifyRequest, current: { ETag: string; 'Last-Modified': string }): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = headers
  if (tags !== undefined) return namesTag(tags, current.ETag)
  return since !== undefined && Date.parse(since) >= Date.parse(current['Last-Modified'])
}

function namesTag(header: string, etag: string): boolean {
  return header.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()))
}

async function refuseRange(reply: FastifyReply, size: number): Promise<FastifyReply> {
  const error = { code: 'VALIDATION_ERROR', message: `Range: must start before the end of the file, which has ${size} bytes` }
  return await reply.code(416).header('Content-Range', `bytes */${size}`).send({ error })
}

async function open(app: App, media: Media, range: ByteRange): Promise<Readable> {
  const bytes = await mediaStore(app).read(media.id, range)
  if (bytes) return exactly(range.end - range.start + 1, bytes)
  app.log.error({ media: media.id }, 'the file of a medium is missing in the store')
  return fail('NOT_FOUND', 'Media not found')
}

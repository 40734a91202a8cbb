// Upload endpoint. The caller is checked before the first byte of the body is read; with an Idempotency-Key, the quota only after it.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../core/config/config.ts'
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { waitForBody } from '../core/http/connection.ts'
import { fingerprintOf, idempotencyOf } from '../core/idempotency/idempotency.ts'
import type { Media } from '../generated/prisma/client.ts'
import { type SavedFile, saveForm } from './form.ts'
import { takeFlight } from './in-flight.ts'
import { extensions, type MediaType, maxUploadBytes } from './kinds.ts'
import { quotaLeft } from './quota.ts'
import { addMedia } from './service.ts'
import { sniff } from './sniff.ts'
import { openSpool } from './spool.ts'
import { urlOf } from './url.ts'

/** Minimum rate of a slow upload (slow-request protection): 64 MiB may then take 17 minutes. */
const bytesPerSecond = 64 * 1024

/**
 * Answers `POST media`. An Idempotency-Key keeps what was stored, identified by the file's content. A refusal is about the file alone,
 * and is not kept.
 * @throws VALIDATION_ERROR when the form, the file or the key is invalid.
 * @throws PAYLOAD_TOO_LARGE when the body is too large, or the file is too large for its type.
 * @throws UNSUPPORTED_MEDIA_TYPE when the body is not multipart/form-data, or is compressed.
 * @throws SUBSCRIPTION_INACTIVE when the caller's subscription is not active.
 * @throws MEDIA_STORAGE_EXCEEDED when the storage quota is used up.
 * @throws API_RATE_LIMIT_EXCEEDED when too many bytes are in progress; also idempotency failures.
 */
export async function upload(request: FastifyRequest, reply: FastifyReply, ctx: Context): Promise<FastifyReply> {
  const { config, db } = ctx.app
  if (!ctx.principal.active) fail('SUBSCRIPTION_INACTIVE')
  checkHeaders(request)
  using _flight = takeFlight(ctx, request.headers['content-length'])
  waitForBody(request.raw, { bytesPerSecond, maxBytes: maxUploadBytes })
  // A repeated request is recognized by its content, so the content is read before the quota is checked.
  const isRepeatable = request.headers['idempotency-key'] !== undefined
  const left = isRepeatable ? maxUploadBytes : await quotaLeft(db, ctx.principal.ownerId, ctx.limits)
  await using spool = await openSpool(config.dataDir)
  const file = await saveForm(request.raw, spool.path, left)
  const type = await typeOf(file)
  const once = { ...ctx, idempotency: idempotencyOf(request, fingerprintOf(request, file.sha256)) }
  const media = await addMedia(once, file, type)
  if (once.idempotency?.replayed) reply.header('Idempotency-Replayed', 'true')
  return await reply.code(201).send({ data: recordOf(config, media) })
}

function checkHeaders(request: FastifyRequest): void {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity', 'content-length': length } = request.headers
  if (!/^multipart\/form-data\s*(;|$)/i.test(type)) fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be multipart/form-data')
  if (encoding !== 'identity') fail('UNSUPPORTED_MEDIA_TYPE', 'The body must not be compressed')
  if (Number(length) > maxUploadBytes) fail('PAYLOAD_TOO_LARGE')
  // Refuses a malformed key before the body is read.
  idempotencyOf(request, null)
}

async function typeOf({ path, size }: SavedFile): Promise<MediaType> {
  const type = await sniff(path)
  if (!type) return fail('VALIDATION_ERROR', `file: must be of a supported type: ${[...extensions].join(', ')}`)
  if (size > type.maxBytes) fail('PAYLOAD_TOO_LARGE', `file: must have at most ${type.maxBytes / 1024 ** 2} MiB as ${type.name}`)
  return type
}

function recordOf(config: Config, media: Media): Record<string, unknown> {
  const { id, mimeType, size, createdAt } = media
  return { id, url: urlOf(config, media), mimeType, size, createdAt }
}

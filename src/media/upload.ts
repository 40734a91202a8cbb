// Upload endpoint. The caller is checked before the first byte of the body is read; with an Idempotency-Key, the quota only after it.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../core/config/config.ts'
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import type { Media } from '../generated/prisma/client.ts'
import { addMedia } from './add-media.ts'
import type { SavedFile } from './form.ts'
import { extensions, type MediaType, maxUploadBytes } from './kinds.ts'
import { quotaLeft } from './quota.ts'
import { answerFile } from './receive.ts'
import { sniff } from './sniff.ts'
import { urlOf } from './url.ts'

/**
 * Answers `POST media`. An Idempotency-Key keeps the answer, identified by the file's content.
 * @throws VALIDATION_ERROR when the form, the file or the key is invalid.
 * @throws PAYLOAD_TOO_LARGE when the body is too large, or the file is too large for its type.
 * @throws UNSUPPORTED_MEDIA_TYPE when the body is not multipart/form-data, or is compressed.
 * @throws SUBSCRIPTION_INACTIVE when the caller's subscription is not active.
 * @throws MEDIA_STORAGE_EXCEEDED when the storage quota is used up.
 * @throws API_RATE_LIMIT_EXCEEDED when too many bytes are in progress; also idempotency failures.
 */
export async function upload(request: FastifyRequest, reply: FastifyReply, ctx: Context): Promise<FastifyReply> {
  const { config, db } = ctx.app
  // A repeated request is recognized by its content, so the content is read before the quota is checked.
  const isRepeatable = request.headers['idempotency-key'] !== undefined
  return await answerFile(request, reply, ctx, {
    status: 201,
    left: async () => (isRepeatable ? maxUploadBytes : await quotaLeft(db, ctx.principal.ownerId, ctx.limits)),
    use: async (once, file) => recordOf(config, await addMedia(once, file, await typeOf(file))),
  })
}

/**
 * The type of a saved file, by its content.
 * @throws VALIDATION_ERROR when it is not supported, PAYLOAD_TOO_LARGE when the file is too large for it.
 */
export async function typeOf({ path, size }: Pick<SavedFile, 'path' | 'size'>): Promise<MediaType> {
  const type = await sniff(path)
  if (!type) return fail('VALIDATION_ERROR', `file: must be of a supported type: ${[...extensions].join(', ')}`)
  if (size > type.maxBytes) fail('PAYLOAD_TOO_LARGE', `file: must have at most ${type.maxBytes / 1024 ** 2} MiB as ${type.name}`)
  return type
}

function recordOf(config: Config, media: Media): Record<string, unknown> {
  const { id, mimeType, size, createdAt } = media
  return { id, url: urlOf(config, media), mimeType, size, createdAt }
}

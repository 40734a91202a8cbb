// Brings a file onto the disk of this machine: from the form of an upload, or from the media store.
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { lockPlan } from '../billing/lock-plan.ts'
import type { Context } from '../core/context.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { Budget, wholeBudget, withBudget } from '../core/graph/budget.ts'
import { waitForBody } from '../core/http/connection.ts'
import { fingerprintOf, idempotencyOf, keepFailure } from '../core/idempotency/idempotency.ts'
import { checkCaller } from '../teams/check-caller.ts'
import { type SavedFile, saveForm } from './form.ts'
import { takeFlight } from './in-flight.ts'
import { maxUploadBytes } from './kinds.ts'
import { mediaStore } from './open-store.ts'
import { findMedia } from './service.ts'
import { openSpool } from './spool.ts'

/** Minimum rate of a slow upload (slow-request protection): 64 MiB may then take 17 minutes. */
const bytesPerSecond = 64 * 1024

interface Expected {
  /** Bytes that the file may have; asked once the request is admitted. */
  left?: () => Promise<number>
  /** Names of the other fields to read. */
  fields?: readonly string[]
}

export interface FileUse extends Expected {
  /** Status of the answer. */
  status: number
  /** Does with the file what the request asks for, and returns the data of the answer. `once` has the request's Idempotency-Key. */
  use: (once: Context, file: SavedFile) => Promise<object>
}

/**
 * Answers a request whose body is a form with a file. An Idempotency-Key identifies the request by the content of the file and by the
 * other fields, and keeps the refusal of `use` too. A form that is refused while it is read cannot be identified.
 * @throws SUBSCRIPTION_INACTIVE when the caller's subscription is not active; as {@link receiveFile}, {@link checkCaller} and `use`.
 */
export async function answerFile(
  request: FastifyRequest,
  reply: FastifyReply,
  ctx: Context,
  how: FileUse,
): Promise<FastifyReply> {
  if (!ctx.principal.active) fail('SUBSCRIPTION_INACTIVE')
  // Files of one payer wait for each other's row locks. With a budget, their transactions take few connections to the database.
  const budget = new Budget(wholeBudget, ctx.principal.ownerId)
  return await withBudget(budget, () => receiveAndUse(request, reply, ctx, how))
}

async function receiveAndUse(
  request: FastifyRequest,
  reply: FastifyReply,
  ctx: Context,
  { status, use, ...expected }: FileUse,
): Promise<FastifyReply> {
  await using file = await receiveFile(request, ctx, expected)
  // A file takes up to 17 minutes to arrive on a slow connection.
  await checkCaller(ctx)
  const { active } = await sqlTransaction(ctx.app.pool, (tx) => lockPlan(tx, ctx.principal.ownerId))
  if (!active) fail('SUBSCRIPTION_INACTIVE')
  const once = { ...ctx, idempotency: idempotencyOf(request, fingerprintOf(request, digestOf(file, expected.fields))) }
  const data = await use(once, file).catch((error: Error) => keepFailure(once, error))
  if (once.idempotency?.replayed) reply.header('Idempotency-Replayed', 'true')
  if (data instanceof Error) throw data
  return await reply.code(status).send({ data })
}

function digestOf(file: SavedFile, names: readonly string[] = []): Buffer {
  if (names.length === 0) return file.sha256
  return createHash('sha256')
    .update(file.sha256)
    .update(JSON.stringify(names.map((name) => file.fields[name] ?? null)))
    .digest()
}

/**
 * Saves the file of a form. On disposal it is removed, unless it was moved away.
 * @throws VALIDATION_ERROR when the form or the Idempotency-Key is invalid.
 * @throws PAYLOAD_TOO_LARGE when the body is too large, MEDIA_STORAGE_EXCEEDED when the file exceeds `left`.
 * @throws UNSUPPORTED_MEDIA_TYPE when the body is not multipart/form-data, or is compressed.
 * @throws API_RATE_LIMIT_EXCEEDED when too many bytes are in progress.
 */
async function receiveFile(
  request: FastifyRequest,
  ctx: Context,
  { left = async () => maxUploadBytes, fields = [] }: Expected,
): Promise<SavedFile & AsyncDisposable> {
  checkHeaders(request)
  await using parts = new AsyncDisposableStack()
  parts.use(takeFlight(ctx, request.headers['content-length']))
  waitForBody(request.raw, { bytesPerSecond, maxBytes: maxUploadBytes })
  const most = await left()
  const spool = parts.use(await openSpool(ctx.app.config.dataDir))
  const file = await saveForm(request.raw, spool.path, most, fields)
  const kept = parts.move()
  return { ...file, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

function checkHeaders(request: FastifyRequest): void {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity', 'content-length': length } = request.headers
  if (!/^multipart\/form-data\s*(;|$)/i.test(type)) fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be multipart/form-data')
  if (encoding !== 'identity') fail('UNSUPPORTED_MEDIA_TYPE', 'The body must not be compressed')
  if (Number(length) > maxUploadBytes) fail('PAYLOAD_TOO_LARGE')
  // Refuses a malformed key before the body is read.
  idempotencyOf(request, null)
}

/**
 * Copies a file of the workspace onto the disk of this machine. On disposal the copy is removed. Until then it counts as an upload in
 * progress, because it takes as much of the disk.
 * @throws NOT_FOUND when the workspace has no such file, API_RATE_LIMIT_EXCEEDED when too many bytes are in progress.
 */
export async function borrowFile(ctx: Context, id: string): Promise<{ path: string } & AsyncDisposable> {
  const { size } = await findMedia(ctx, id)
  await using parts = new AsyncDisposableStack()
  parts.use(takeFlight(ctx, String(size)))
  const spool = parts.use(await openSpool(ctx.app.config.dataDir))
  await using file = await open(spool.path, 'wx', 0o600)
  // Opened last, because it stays open until it is read.
  const bytes = await mediaStore(ctx.app).read(id, { start: 0, end: size - 1 })
  if (!bytes) return fail('NOT_FOUND', 'Media not found')
  await pipeline(bytes, file.createWriteStream())
  const kept = parts.move()
  return { path: spool.path, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

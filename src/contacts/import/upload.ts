// Endpoint of imports: takes the file and the options from a form. The caller is checked before the first byte of the body is read.
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../core/context.ts'
import { fail } from '../../core/errors.ts'
import { fingerprintOf, idempotencyOf } from '../../core/idempotency/idempotency.ts'
import { parse } from '../../core/validation.ts'
import { receiveFile } from '../../media/receive.ts'
import type { BulkJobRecord } from '../bulk/service.ts'
import { ImportOptions } from './input.ts'
import { startImport } from './service.ts'

const fields = ['mapping', 'groupId', 'onConflict'] as const

/**
 * Answers `POST contacts/import`. An Idempotency-Key identifies the request by the content of the file and by the options.
 * @throws SUBSCRIPTION_INACTIVE when the caller's subscription is not active; as {@link receiveFile} and {@link startImport}.
 */
export async function importContacts(request: FastifyRequest, reply: FastifyReply, ctx: Context): Promise<FastifyReply> {
  if (!ctx.principal.active) fail('SUBSCRIPTION_INACTIVE')
  await using file = await receiveFile(request, ctx, { fields })
  const options = optionsOf(file.fields)
  const content = createHash('sha256')
    .update(file.sha256)
    .update(JSON.stringify(fields.map((name) => file.fields[name] ?? null)))
  const once = { ...ctx, idempotency: idempotencyOf(request, fingerprintOf(request, content.digest())) }
  const job = await startImport(once, file, options)
  if (once.idempotency?.replayed) reply.header('Idempotency-Replayed', 'true')
  return await reply.code(202).send({ data: acceptedOf(job) })
}

/** A field without content counts as left out, because forms send every field. */
function optionsOf(given: Readonly<Record<string, string>>): ImportOptions {
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
  const { mapping, ...rest } = present
  return parse(ImportOptions, { ...rest, ...(mapping !== undefined && { mapping: objectOf(mapping) }) })
}

function objectOf(mapping: string): unknown {
  try {
    return JSON.parse(mapping)
  } catch {
    return fail('VALIDATION_ERROR', 'mapping: must be a JSON object')
  }
}

function acceptedOf({ id, groupId, requestedCount }: BulkJobRecord): Record<string, unknown> {
  const message = 'The file is imported in the background; read the progress every 2 seconds'
  const job = { jobId: id, status: 'pending', operation: 'import_contacts', requestedCount, ...(groupId && { groupId }) }
  return { mode: 'async', ...job, progress: 0, message }
}

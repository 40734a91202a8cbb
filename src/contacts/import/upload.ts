// Endpoint of imports: takes the file and the options from a form. The caller is checked before the first byte of the body is read.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Context } from '../../core/context.ts'
import { parse } from '../../core/validation.ts'
import { answerFile } from '../../media/receive.ts'
import type { BulkJobRecord } from '../bulk/service.ts'
import { ImportOptions } from './input.ts'
import { startImport } from './service.ts'

/** Answers `POST contacts/import`. @throws as {@link answerFile} and {@link startImport}. */
export function importContacts(request: FastifyRequest, reply: FastifyReply, ctx: Context): Promise<FastifyReply> {
  return answerFile(request, reply, ctx, {
    status: 202,
    fields: ['mapping', 'groupId', 'onConflict'],
    use: async (once, file) => acceptedOf(await startImport(once, file, optionsOf(file.fields))),
  })
}

/** The options of a form, whose fields are text. */
const FormOptions = ImportOptions.extend({
  mapping: z
    .string()
    .transform((json, { issues }) => {
      try {
        return JSON.parse(json)
      } catch {
        issues.push({ code: 'custom', message: 'must be a JSON object', input: json })
        return z.NEVER
      }
    })
    .pipe(ImportOptions.shape.mapping)
    .optional(),
})

/** A field without content counts as left out, because forms send every field. */
function optionsOf(given: Readonly<Record<string, string>>): ImportOptions {
  return parse(FormOptions, Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')))
}

function acceptedOf({ id, groupId, requestedCount }: BulkJobRecord): Record<string, unknown> {
  const message = 'The file is imported in the background; read the progress every 2 seconds'
  const job = { jobId: id, status: 'pending', operation: 'import_contacts', requestedCount, ...(groupId && { groupId }) }
  return { mode: 'async', ...job, progress: 0, message }
}

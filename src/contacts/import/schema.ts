// GraphQL field that imports contacts. A large file is uploaded by REST first.
import { builder } from '../../core/graph/builder.ts'
import { acceptedBefore, keyed } from '../../core/idempotency/idempotency.ts'
import { borrowFile } from '../../media/receive.ts'
import { BulkJobRef } from '../bulk/object.ts'
import type { BulkJobRecord } from '../bulk/service.ts'
import { ImportContactsInput } from './input.ts'
import { startImport } from './service.ts'

builder.mutationFields((t) => ({
  importContacts: t.field({
    type: BulkJobRef,
    description: 'Imports contacts from a CSV file in the background. The result is the job, whose progress can be followed.',
    errors: [
      { NOT_FOUND: 'if the group or the uploaded file does not exist' },
      'SUBSCRIPTION_INACTIVE',
      'API_RATE_LIMIT_EXCEEDED',
    ],
    authScopes: { active: true },
    args: { input: t.arg({ type: ImportContactsInput.ref, required: true, description: 'The file and the options.' }) },
    resolve: async (_, { input }, ctx) => {
      const once = keyed(ctx, 'importContacts', input)
      const { csv, mediaId, idempotencyKey: _key, ...options } = ImportContactsInput.parse(ctx.app.config, input)
      if (mediaId == null) return await startImport(once, { bytes: Buffer.from(csv ?? '') }, options)
      // A repeated request does not need the file, which may have been deleted meanwhile.
      const [before] = await acceptedBefore<BulkJobRecord>([once])
      if (before) return before
      await using file = await borrowFile(ctx, mediaId)
      return await startImport(once, file, options)
    },
  }),
}))

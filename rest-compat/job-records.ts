// Records of bulk jobs in REST.
import { z } from 'zod'

// In GraphQL, fields that do not apply are null. REST leaves them out, so it describes them in words of its own.
export const jobItem = z
  .object({
    id: z.uuid(),
    operation: z.string(),
    status: z.string(),
    requestedCount: z.int(),
    processedCount: z.int(),
    progress: z.int(),
    groupId: z.uuid().optional().describe('The group; absent if the job adds contacts to none.'),
    summary: z
      .union([
        z
          .object({
            added: z.int().describe('Contacts that became members.'),
            alreadyInGroup: z.int().describe('Contacts that were already members.'),
            notFound: z.int(),
          })
          .meta({ id: 'AddToGroupSummary' }),
        z
          .object({ deleted: z.int().describe('Contacts that were deleted.'), notFound: z.int() })
          .meta({ id: 'BulkDeleteSummary' }),
        z
          .object({
            created: z.int().describe('Contacts that were created.'),
            updated: z.int().describe('Contacts that were updated.'),
            skipped: z.int().describe('Lines whose number is that of a contact, which was left as it is.'),
            invalid: z.array(z.object({ line: z.int(), field: z.string(), message: z.string() })),
          })
          .meta({ id: 'ImportSummary' }),
      ])
      .describe('Its results so far: those of `add_to_group`, of `bulk_delete_contacts`, or of `import_contacts`.'),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    completedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'BulkJobItem' })
export const jobRecord = jobItem.extend({ error: z.string().nullable() }).meta({ id: 'BulkJob' })

export const jobAccepted = z
  .object({
    mode: z.literal('async').describe('A job processes the request.'),
    jobId: z.uuid().describe('The job, whose progress you can read.'),
    status: z.literal('pending').describe('The job has not started.'),
    operation: z.enum(['add_to_group', 'bulk_delete_contacts', 'import_contacts']).describe('The operation of the job.'),
    requestedCount: z.int().describe('The number of contacts that the job processes; 0 until the file of an import was read.'),
    groupId: z.uuid().optional().describe('The group; absent if the job adds contacts to none.'),
    progress: z.literal(0).describe('In percent.'),
    message: z.string().describe('How to follow the job, for people.'),
  })
  .meta({ id: 'BulkJobAccepted' })

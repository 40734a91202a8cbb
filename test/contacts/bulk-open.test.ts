// The limit of open bulk jobs per workspace: each holds up to 10,000 ids until it has ended.
import { expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { sql } from '../kit/database.ts'
import { openOwnRig } from '../rest-compat/rig.ts'

it('allows exactly 100 open bulk jobs per workspace over REST and GraphQL, and a new one after one has ended', async () => {
  // No worker runs, so every job stays open.
  const { tenant, stranger, databaseUrl } = await openOwnRig({ ROLES: 'http' })
  await sql(databaseUrl).query(
    `insert into bulk_jobs (id, "workspaceId", operation, "contactIds", "requestedCount", summary)
     select gen_random_uuid(), $1, 'bulk_delete_contacts', '{}', 100, '{"deleted": 0, "notFound": 0}' from generate_series(1, 95)`,
    [tenant.account.workspaceId],
  )
  const contactIds = Array.from({ length: 100 }, newId)
  const outcome = await Promise.all(Array.from({ length: 8 }, () => tenant.api.post('contacts/bulk-delete', { contactIds })))
  expect(outcome.map(({ status }) => status).sort()).toEqual([202, 202, 202, 202, 202, 429, 429, 429])
  const document = 'mutation ($ids: [ID!]!) { bulkDeleteContacts(contactIds: $ids) { job { id } } }'
  const { body } = await tenant.api.graphql(document, { ids: contactIds })
  expect(body.errors[0].extensions.code).toBe('API_RATE_LIMIT_EXCEEDED')
  expect((await stranger.api.post('contacts/bulk-delete', { contactIds })).status).toBe(202)
  // Fewer than 100 ids need no job.
  expect((await tenant.api.post('contacts/bulk-delete', { contactIds: contactIds.slice(1) })).status).toBe(200)
  const jobId = outcome.find(({ status }) => status === 202)?.body.data.jobId
  expect((await tenant.api.post(`contacts/bulk-jobs/${jobId}/cancel`)).status).toBe(200)
  expect((await tenant.api.post('contacts/bulk-delete', { contactIds })).status).toBe(202)
})

// An import into a group that is deleted meanwhile: it stops, and stores no line that it does not count.
import { expect, it } from 'vitest'
import { startImport } from '../../src/contacts/import/service.ts'
import { workThroughImport } from '../../src/contacts/import/work.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { contextFor, openApp } from '../messages/rig.ts'
import { addGroup } from './bulk-rig.ts'

it('creates no contact of the lines that its deleted group cannot take in', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl, { plan: 'max' })
  const groupId = await addGroup(databaseUrl, account.workspaceId)
  const app = await openApp(databaseUrl)
  const file = { bytes: Buffer.from('name,phone\nAda,+4915112345601\nBob,+4915112345602\n') }
  const { id } = await startImport(contextFor(app, account), file, { groupId })
  // The import has stored the contacts when it waits for the group.
  await whileHeld(databaseUrl, ['delete from contact_groups where id = $1', groupId], [() => workThroughImport(app, id)])
  const { rows: jobs } = await sql(databaseUrl).query(
    'select status, error, "processedCount", summary from bulk_jobs where id = $1',
    [id],
  )
  const summary = { created: 0, updated: 0, skipped: 0, invalid: [] }
  expect(jobs).toEqual([{ status: 'failed', error: 'NOT_FOUND', processedCount: 0, summary }])
  const { rows: contacts } = await sql(databaseUrl).query('select phone from contacts where "workspaceId" = $1', [
    account.workspaceId,
  ])
  expect(contacts).toEqual([])
})

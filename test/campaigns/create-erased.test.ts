// A contact is erased while a campaign to it is being created: the campaign keeps no text for it, and does not write to it.
import { expect, it } from 'vitest'
import { createCampaign } from '../../src/campaigns/create.ts'
import { createContact, deleteContact } from '../../src/contacts/service.ts'
import { eraseImplementation } from '../../src/messages/erase/erase.ts'
import { createTemplate } from '../../src/templates/service.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openWorkspace } from '../messages/rig.ts'
import { numbers } from './rig.ts'

it('cancels a recipient whose contact is erased between its look-up and the commit, and erases its text', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const [phone, other] = numbers(2) as [string, string]
  const zoe = await createContact({ ...ctx }, { name: 'Zoe', phone })
  const ada = await createContact({ ...ctx }, { name: 'Ada', phone: other })
  const { id: templateId } = await createTemplate({ ...ctx }, { name: 'Greeting', type: 'text', body: 'Dear {{contact.name}}' })
  const pool = sql(databaseUrl)
  const holder = await pool.connect()
  // The recipients are composed, and cannot be stored yet.
  await holder.query('begin; lock table campaign_recipients in share mode')
  const creating = createCampaign({ ...ctx }, { instanceId, name: 'News', templateId, contactIds: [zoe.id, ada.id] })
  const waiting = `select from pg_locks where not granted and relation = 'campaign_recipients'::regclass`
  await until(async () => (await pool.query(waiting)).rowCount === 1)
  await deleteContact({ ...ctx }, zoe.id, true)
  const asked = { workspaceId: ctx.principal.workspaceId, phone, before: new Date().toISOString() }
  expect(await eraseImplementation.run(app, [asked])).toEqual([undefined])
  await holder.query('commit')
  holder.release()
  await creating
  const { rows } = await pool.query('select "to", body, status::text, error from campaign_recipients order by position')
  expect(rows).toEqual([
    { to: phone, body: null, status: 'cancelled', error: 'CONTACT_DELETED' },
    { to: other, body: 'Dear Ada', status: 'planned', error: null },
  ])
})

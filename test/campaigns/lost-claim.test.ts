// A contact is deleted while a claim of its message, whose commit was not answered, waits to be given back: nothing leaves.
import { expect, it } from 'vitest'
import { advance } from '../../src/campaigns/advance.ts'
import { createCampaign } from '../../src/campaigns/create.ts'
import { createContact, deleteContact } from '../../src/contacts/service.ts'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openPassage } from '../kit/passage.ts'
import { until } from '../kit/until.ts'
import { contextFor, openApp } from '../messages/rig.ts'
import { campaignTo, messagesIn } from './rig.ts'

it('the message of a campaign is cancelled as it is given back, and its quota returns', async () => {
  const own = await cloneDatabase()
  const pool = sql(own)
  const account = await createAccount(own)
  const { id: instanceId } = await connectedInstance(own, account)
  const passage = await openPassage(Number(new URL(own).port))
  const losing = await openApp(Object.assign(new URL(own), { host: `127.0.0.1:${passage.port}` }).href)
  const app = await openApp(own)
  const ctx = contextFor(app, account)
  const { id: contactId } = await createContact(ctx, { name: 'Zoe', phone: '+393337001001' })
  const campaign = await createCampaign(ctx, campaignTo(instanceId, [], { recipients: [], contactIds: [contactId] }))
  await advance(app, campaign.id, 50)
  const ids = await messagesIn(own, campaign.id)
  await pool.query(
    `create function refuse_back() returns trigger language plpgsql as $$ begin
       raise exception 'the test refuses this' using errcode = '57P03'; end $$;
     create trigger refuse_back before update on messages for each row
       when (old."leaseToken" is not null and new."leaseToken" is null) execute function refuse_back()`,
  )
  passage.loseAnswer('commit')
  await expect(claimMessages(losing, ids)).rejects.toThrow('Connection terminated')
  await deleteContact(ctx, contactId)
  await pool.query('drop trigger refuse_back on messages')
  const message = async () =>
    (
      await pool.query(
        `select status, error, "leaseToken", (select "messagesCount" from usage where "userId" = $2) as used
         from messages where id = any($1)`,
        [ids, account.userId],
      )
    ).rows
  await until(async () => (await message()).every(({ leaseToken }) => leaseToken === null))
  expect(await message()).toEqual([{ status: 'cancelled', error: 'CONTACT_DELETED', leaseToken: null, used: 0 }])
  expect((await claimMessages(app, ids)).claimed).toEqual([])
})

// Contacts that are deleted while messages name them: the messages stay, without a contact, unless they are erased too.
import { beforeAll, expect, it } from 'vitest'
import { advance } from '../../src/campaigns/advance.ts'
import { createCampaign } from '../../src/campaigns/create.ts'
import { detachedAtOnce } from '../../src/contacts/detach-messages.ts'
import { deleteAllMembers, insertMembers } from '../../src/contacts/groups/membership.sql.ts'
import { deleteContact } from '../../src/contacts/service.ts'
import type { Sql } from '../../src/core/database/database.ts'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { receiveMessages } from '../../src/messages/receipts/inbound.ts'
import { sendMessage } from '../../src/messages/service.ts'
import { type Account, connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { hold } from '../kit/fault.ts'
import { whileHeld } from '../kit/held.ts'
import { contextFor, openApp } from '../messages/rig.ts'
import { addContacts, addGroup } from './bulk-rig.ts'

let databaseUrl: string
let account: Account
let instanceId: string

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  account = await createAccount(databaseUrl, { plan: 'max' })
  instanceId = (await connectedInstance(databaseUrl, account)).id
})

/** Creates two contacts; returns their ids and numbers, and the statement that deletes the first. */
async function twoContacts() {
  const ids = await addContacts(databaseUrl, account.workspaceId, 2)
  const { rows } = await sql(databaseUrl).query('select phone from contacts where id = any($1) order by id', [ids])
  const deletion: [string, ...unknown[]] = ['delete from contacts where id = $1', ids[0]]
  return { ids, phones: rows.map(({ phone }) => phone as string), deletion }
}

/** The contactId of each message to or from these numbers. */
async function contactsOf(phones: readonly string[]): Promise<(string | null)[]> {
  const text = 'select "contactId" from messages where peer = any($1) order by peer'
  return (await sql(databaseUrl).query(text, [phones])).rows.map(({ contactId }) => contactId)
}

it('stores inbound messages of a contact that is being deleted', async () => {
  const app = await openApp(databaseUrl)
  const { ids, phones, deletion } = await twoContacts()
  const inbound = phones.map((from) => {
    const message = { instanceId, providerMessageId: `from ${from}`, from, type: 'text' as const, body: 'hi', at: new Date() }
    return { ...message, content: { kind: 'text' as const } }
  })
  await whileHeld(databaseUrl, deletion, [() => receiveMessages(app, inbound)])
  expect(await contactsOf(phones)).toEqual([null, ids[1]])
})

it('creates no campaign message for a contact that is being deleted, and one for each of the others', async () => {
  const app = await openApp(databaseUrl)
  const { ids, phones, deletion } = await twoContacts()
  const fields = { instanceId, name: 'News', type: 'text', text: 'Hello', contactIds: ids }
  const { id } = await createCampaign(contextFor(app, account), fields as never)
  await whileHeld(databaseUrl, deletion, [() => advance(app, id, 50)])
  expect(await contactsOf(phones)).toEqual([ids[1]])
})

it('erases the messages with the number that a contact has when it is deleted, if that changes in the meantime', async () => {
  const app = await openApp(databaseUrl)
  const { ids, phones } = await twoContacts()
  const [id, other] = ids as [string, string]
  const renumbered: [string, ...unknown[]] = ['update contacts set phone = $2 where id = $1', id, '+4930999001']
  await whileHeld(databaseUrl, renumbered, [() => deleteContact(contextFor(app, account), id, true)])
  const erased = async () => {
    const text = `select data->>'phone' as phone from pgboss.job where name = 'messages.erase' order by created_on`
    return (await sql(databaseUrl).query(text)).rows.map(({ phone }) => phone)
  }
  expect(await erased()).toEqual(['+4930999001'])
  await deleteContact(contextFor(app, account), other, true)
  expect(await erased()).toEqual(['+4930999001', phones[1]])
  await expect(deleteContact(contextFor(app, account), id, true)).rejects.toThrow('Contact not found')
})

it('a contact with very many messages is deleted in short transactions, and messages to it are accepted meanwhile', async () => {
  const app = await openApp(databaseUrl)
  const { ids, phones } = await twoContacts()
  const count = 2 * detachedAtOnce + 1
  await sql(databaseUrl).query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", "contactId", type, "to", peer, body, safety)
     select gen_random_uuid(), $1, $2, $3, $4, 'text', $5, $5, 'hello', '{}' from generate_series(1, $6::int)`,
    [account.workspaceId, account.userId, instanceId, ids[0], phones[0], count],
  )
  const ctx = contextFor(app, account)
  const held = await hold(databaseUrl, 'update', 'messages')
  const deletion = deleteContact(ctx, ids[0] as string)
  await held.waits()
  const sent = await sendMessage(ctx, { instanceId, to: phones[0], type: 'text', text: 'hello' })
  expect(sent.contactId).toBe(ids[0])
  await held.release()
  await deletion
  const text = 'select from messages where peer = $1 and "contactId" is null'
  expect((await sql(databaseUrl).query(text, [phones[0]])).rowCount).toBe(count + 1)
})

it('empties a group with very many members in statements of bounded size', async () => {
  const groupId = await addGroup(databaseUrl, account.workspaceId)
  const contactIds = await addContacts(databaseUrl, account.workspaceId, 25)
  await sqlTransaction(sql(databaseUrl), (tx) => insertMembers(tx, groupId, contactIds))
  expect(await touchedBy((tx) => deleteAllMembers(tx, groupId, 10))).toEqual([10, 10, 5])
})

/** The number of rows that each statement of `work` changed. */
async function touchedBy(work: (tx: Sql) => Promise<void>): Promise<(number | null)[]> {
  const touched: (number | null)[] = []
  await sqlTransaction(sql(databaseUrl), async (tx) => {
    const query = async (text: string, values: unknown[]) => {
      const result = await tx.query(text, values)
      touched.push(result.rowCount)
      return result
    }
    await work({ query } as Sql)
  })
  return touched
}

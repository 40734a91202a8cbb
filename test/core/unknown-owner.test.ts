// Statements about a new owner, whom the statistics of PostgreSQL do not know yet, read few rows beside those that they are about.
import { expect, it } from 'vitest'
import { lockContactsByPhone, lockOwnContacts, readAddressees } from '../../src/contacts/contacts.sql.ts'
import { deleteAllMembers } from '../../src/contacts/groups/membership.sql.ts'
import { readContacts } from '../../src/contacts/list.sql.ts'
import { newId } from '../../src/core/id.ts'
import { readAfter } from '../../src/events/log/log.sql.ts'
import { lockForRemoval, markRemoved } from '../../src/media/media.sql.ts'
import { storeFailures } from '../../src/messages/dispatch/fail.sql.ts'
import { readHeld, readKey, readOverdue } from '../../src/messages/dispatch/holds.sql.ts'
import { lockMessages } from '../../src/messages/receipts/receipts.sql.ts'
import { unusedOf } from '../../src/messages/retention/files.sql.ts'
import { readSignsOfLife } from '../../src/messages/safety/known-numbers.sql.ts'
import { readAddresses, readNumbersAt as readNumbersOfMeta } from '../../src/providers/cloud/addresses.sql.ts'
import { readNumbers, readNumbersAt } from '../../src/providers/web/numbers.sql.ts'
import { deleteSuppressions, readSuppressed } from '../../src/suppressions/suppressions.sql.ts'
import { claimByIds, claimWaiting } from '../../src/webhooks/claim.sql.ts'
import { makeChunkDue } from '../../src/webhooks/redelivery.sql.ts'
import { closeStranded } from '../../src/webhooks/sweep.sql.ts'
import { many, openUnknownOwner, type UnknownOwner, workOfStatement } from '../kit/unknown-owner.ts'

/** Rows that a statement is about. Each passes through some nodes of its plan. */
const asked = 10
const nodes = 20

const phones = Array.from({ length: asked }, (_, i) => `+39${100_000 + i * 7}`)

/** Each owner has numbers of its own. The new one has those of {@link phones} and others. */
const people = (isNew: boolean) => {
  const phone = isNew ? `'+39' || 100000 + i` : `'+' || substr($1::uuid::text, 1, 8) || i`
  const own = `from contacts where "workspaceId" = $1 and $2::int > 0`
  return [
    `insert into contacts (id, "workspaceId", name, phone) select gen_random_uuid(), $1, 'n' || i, ${phone} from generate_series(0, $2::int - 1) i`,
    `insert into contact_group_members ("groupId", "contactId") select "workspaceId", id ${own}`,
    `insert into instances (id, "workspaceId", "userId", name, provider, "updatedAt") select $1, $1, $1, '', 'sandbox', now() where $2::int > 0`,
    `insert into suppressions (id, "workspaceId", phone, reason) select gen_random_uuid(), "workspaceId", phone, 'manual' ${own}`,
    `insert into web_numbers ("instanceId", phone, exists, address, "checkedAt") select "workspaceId", phone, true, phone || '0', now() ${own}`,
    `insert into cloud_addresses ("instanceId", phone, address) select "workspaceId", phone, phone || '0' ${own}`,
  ]
}

/** Opened once for all tests, because their statements are rolled back. */
function once(fill: Parameters<typeof openUnknownOwner>[1]): (others: 'few' | 'single') => Promise<UnknownOwner> {
  const opened = new Map<string, Promise<UnknownOwner>>()
  return (others) => {
    const state = opened.get(others) ?? openUnknownOwner(others, fill)
    opened.set(others, state)
    return state
  }
}

const withPeople = once(people)

async function contactIds({ pool, owner }: UnknownOwner, n: number): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>('select id from contacts where "workspaceId" = $1 order by id limit $2', [
    owner,
    n,
  ])
  return rows.map(({ id }) => id)
}

it('members leave a group that is deleted, without each being compared with all others', async () => {
  for (const others of ['few', 'single'] as const) {
    const state = await withPeople(others)
    const work = await workOfStatement(state, (tx) => deleteAllMembers(tx, state.owner, many))
    expect(work, others).toBeLessThan(nodes * many)
  }
})

it('contacts are found by their ids and numbers', async () => {
  const state = await withPeople('few')
  const { owner } = state
  const ids = await contactIds(state, asked)
  const pairs = phones.map((phone) => ({ workspaceId: owner, phone }))
  const work = async (run: Parameters<typeof workOfStatement>[1]) => await workOfStatement(state, run)
  expect(await work((tx) => lockOwnContacts(tx, owner, ids, 'update'))).toBeLessThan(nodes * asked)
  expect(await work((tx) => readAddressees(tx, owner, ids))).toBeLessThan(nodes * asked)
  expect(await work((tx) => lockContactsByPhone(tx, pairs, false))).toBeLessThan(nodes * asked)
})

it('a window of contacts is compared with the members of a group one by one', async () => {
  const state = await withPeople('single')
  const query = {
    filter: { groupId: state.owner },
    columns: 'c.id',
    field: 'createdAt',
    place: { order: 'desc', bounds: [] },
    take: 51,
  }
  const work = await workOfStatement(state, (tx) => readContacts(tx, state.owner, query as never, 1_000))
  expect(work).toBeLessThan(nodes * many)
})

it('suppressed numbers and the addresses of numbers are found one by one', async () => {
  for (const others of ['few', 'single'] as const) {
    const state = await withPeople(others)
    const { owner } = state
    const pairs = phones.map((phone) => ({ workspaceId: owner, instanceId: owner, phone }))
    const work = async (run: Parameters<typeof workOfStatement>[1]) => await workOfStatement(state, run)
    expect(await work((tx) => readSuppressed(tx, pairs)), others).toBeLessThan(nodes * asked)
    expect(await work((tx) => deleteSuppressions(tx, pairs)), others).toBeLessThan(nodes * asked)
    expect(await work((tx) => readNumbers(tx, owner, phones)), others).toBeLessThan(nodes * asked)
    expect(await work((tx) => readNumbersAt(tx, owner, `${phones[7]}0`)), others).toBeLessThan(nodes)
    expect(await work((tx) => readAddresses(tx, pairs)), others).toBeLessThan(nodes * asked)
    expect(
      await work((tx) =>
        readNumbersOfMeta(
          tx,
          owner,
          phones.map((phone) => `${phone}0`),
        ),
      ),
      others,
    ).toBeLessThan(nodes * asked)
  }
})

/** The deliveries of the others have reached their end. */
const deliveries = (status: 'failed' | 'pending') => (isNew: boolean) => [
  `insert into webhook_endpoints (id, "workspaceId", url, events, secret, "updatedAt", "disabledAt")
   select $1, $1, '', '{}', '', now(), now() where $2::int > 0`,
  `insert into webhook_deliveries (id, "endpointId", "eventId", type, status, "nextAttemptAt")
   select gen_random_uuid(), $1, gen_random_uuid(), 'message.sent', '${isNew ? status : 'delivered'}',
     ${isNew && status === 'pending' ? 'now()' : 'null'} from generate_series(1, $2::int)`,
]

it('a claim of deliveries does not read all that are due', async () => {
  const state = await openUnknownOwner('few', deliveries('pending'))
  const { rows } = await state.pool.query<{ id: string }>(
    `select id from webhook_deliveries where status = 'pending' limit ${asked}`,
  )
  const ids = rows.map(({ id }) => id)
  expect(await workOfStatement(state, (tx) => claimByIds(tx, newId(), ids))).toBeLessThan(nodes * asked)
  const queue = { endpointId: state.owner, most: asked }
  expect(await workOfStatement(state, (tx) => claimWaiting(tx, newId(), [queue]))).toBeLessThan(nodes * asked)
})

it('deliveries that must not be attempted end without each being compared with all others', async () => {
  const state = await openUnknownOwner('single', deliveries('pending'))
  expect(await workOfStatement(state, (tx) => closeStranded(tx, [state.owner]))).toBeLessThan(nodes * many)
})

it('a redelivery of failed deliveries compares none with all others', async () => {
  for (const others of ['few', 'single'] as const) {
    const state = await openUnknownOwner(others, deliveries('failed'))
    const [since, createdAt] = [new Date(0), new Date(Date.now() + 60_000)]
    const selection = { endpointId: state.owner, since, createdAt, of: 'failed' as const, afterTime: null, afterId: null }
    expect(await workOfStatement(state, (tx) => makeChunkDue(tx, selection, asked)), others).toBeLessThan(nodes * asked)
  }
})

/** The messages of the others have left, and those of the new owner are held. */
const messages = (isNew: boolean) => [
  `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, safety, "mediaUrl", "providerMessageId", status, "acceptedAt",
     "waitingSince", "heldBy")
   select gen_random_uuid(), $1, $1, $1, 'text', phone, phone, '', '{}', 'https://example.com/' || phone, phone,
     ${isNew ? `'queued', null, now(), $1::uuid::text` : `'read', now(), null, null`} from (
     select ${isNew ? `'+39' || 100000 + i` : `'+' || substr($1::uuid::text, 1, 8) || i`} as phone from generate_series(0, $2::int - 1) i
   ) p`,
  `insert into media (id, "workspaceId", token, "mimeType", size, "storedAt")
   select id, "workspaceId", peer, '', 1, now() from messages where "workspaceId" = $1 and $2::int > 0`,
  `insert into events (seq, id, "workspaceId", type, "messageId", payload, "createdAt")
   select (select coalesce(max(seq), 0) from events) + row_number() over (), id, "workspaceId", 'message.sent', id, '{}', now()
   from messages where "workspaceId" = $1 and $2::int > 0`,
]

const withMessages = once(messages)

async function messageIds({ pool, owner }: UnknownOwner, n: number): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>('select id from messages where "workspaceId" = $1 limit $2', [owner, n])
  return rows.map(({ id }) => id)
}

it('messages, their events and their files are found by their numbers, ids and addresses', async () => {
  for (const others of ['few', 'single'] as const) {
    const state = await withMessages(others)
    const { owner } = state
    const urls = phones.map((phone) => `https://example.com/${phone}`)
    const work = async (run: Parameters<typeof workOfStatement>[1]) => await workOfStatement(state, run)
    expect(await work((tx) => readSignsOfLife(tx, { id: owner, workspaceId: owner }, phones)), others).toBeLessThan(nodes * asked)
    expect(await work((tx) => unusedOf(tx, owner, urls)), others).toBeLessThan(nodes * asked)
    expect(await work((tx) => lockForRemoval(tx, owner, phones)), others).toBeLessThan(nodes * asked)
    expect(await work((tx) => markRemoved(tx, owner, phones)), others).toBeLessThan(nodes * asked)
    const [messageId] = await messageIds(state, 1)
    const filter = { messageId } as Parameters<typeof readAfter>[2]
    expect(await work((tx) => readAfter(tx, owner, filter, { after: 0n, limit: 50 })), others).toBeLessThan(nodes * 5)
  }
})

it('the messages of receipts are found by their ids and by those of the network', async () => {
  for (const others of ['few', 'single'] as const) {
    const state = await withMessages(others)
    const receipt = { instanceId: state.owner, status: 'sent', at: new Date() } as const
    const known = (await messageIds(state, many / 4)).map((messageId) => ({ ...receipt, messageId }))
    expect(await workOfStatement(state, (tx) => lockMessages(tx, known)), others).toBeLessThan(4 * nodes * known.length)
    const unknown = known.map(({ messageId }) => ({ ...receipt, providerMessageId: messageId }))
    expect(await workOfStatement(state, (tx) => lockMessages(tx, unknown)), others).toBeLessThan(nodes * known.length)
  }
})

it('messages that fail are found by their ids', async () => {
  for (const others of ['few', 'single'] as const) {
    const state = await withMessages(others)
    const failing = (await messageIds(state, many / 4)).map((id) => ({ id, error: 'PROVIDER_ERROR' }))
    expect(await workOfStatement(state, (tx) => storeFailures(tx, failing)), others).toBeLessThan(nodes * failing.length)
  }
})

it('the held messages of a key that leave first are found without the others', async () => {
  for (const others of ['few', 'single'] as const) {
    const state = await withMessages(others)
    expect(await workOfStatement(state, (tx) => readHeld(tx, state.owner, asked)), others).toBeLessThan(nodes * asked)
    expect(await workOfStatement(state, (tx) => readKey(tx, state.owner)), others).toBeLessThan(nodes * 5)
    expect(await workOfStatement(state, (tx) => readOverdue(tx, state.owner, 0, asked)), others).toBeLessThan(nodes * asked)
  }
})

// Proves that one caller who sends any body 24 times at once neither blocks the event loop nor keeps memory.
import { beforeAll, describe, expect, it } from 'vitest'
import { newPerson } from '../accounts/person.ts'
import { sql } from '../kit/database.ts'
import { realHashes } from '../kit/environment.ts'
import { holdingsOf, inspectable } from '../kit/holdings.ts'
import { residentBytes } from '../kit/resident.ts'
import { until } from '../kit/until.ts'
import { nobody, openProcessRig, type ProcessRig } from '../rest-compat/rig.ts'
import { expectHarmless, fire, mostBytes, type Shot, type Watch, watchFrom } from './flood.ts'

let rig: ProcessRig
let noticed: Watch
let atFirstBytes: number
let key: Record<string, string>
let person: Record<string, string>

beforeAll(async () => {
  rig = await openProcessRig({ ...inspectable, ...realHashes })
  const { token } = await newPerson(rig.gateway, rig.databaseUrl)
  key = { 'x-api-key': rig.tenant.account.apiKey }
  person = { authorization: `Bearer ${token}` }
  noticed = watchFrom(rig.gateway)
  atFirstBytes = (await holdingsOf(rig.gateway)).rssBytes
  // The first requests of a process load and compile what all later ones use, and the heap grows to what its largest requests
  // need.
  await fire(rig.gateway, Array(4).fill({ path: '/api/campaigns', headers: person, body: wrongRecipients() }))
  for (const headers of [key, person]) {
    await fire(rig.gateway, [
      { path: '/graphql', headers, body: json({ query: '{ me { id } contacts { nodes { id groups { id } } } }' }) },
      { path: 'key' in headers ? '/api/v1/messages/bulk' : '/api/messages/bulk', headers, body: json({ messages: [{}] }) },
    ])
  }
})

const MiB = 1024 * 1024

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}

/** A body of at most `bytes` bytes, or a little less: `unit` repeated between `start` and `end`, separated by commas. */
function filled(bytes: number, start: string, unit: string, end: string): Buffer {
  const count = Math.floor((bytes - start.length - end.length) / (unit.length + 1))
  return Buffer.from(start + Array(count).fill(unit).join(',') + end)
}

function unknownKey(i: number): Record<string, string> {
  return { 'x-api-key': `svc_live_${i.toString(16).padStart(64, '0')}` }
}

type Attack = [name: string, statuses: number[], shot: (i: number) => Shot]

const variables = (bytes: number, unit: string) => filled(bytes, '{"query":"{__typename}","variables":{"a":[', unit, ']}}')
const once = <T>(make: () => T) => {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

const lists = once(() => variables(16 * MiB, '[]'))
const listsWithinBounds = once(() => variables(1.14 * MiB, '[]'))
const objects = once(() => variables(2.6 * MiB, '{"a":1}'))
const comment = once(() => json({ query: `{ __typename } # ${'x'.repeat(15 * MiB)}` }))
const oneString = once(() => json({ query: `{ contacts(search: "${'x'.repeat(15 * MiB)}") { nodes { id } } }` }))
const names = once(() =>
  Buffer.from(
    `[${Array.from({ length: 9_000 }, (_, i) => `{${Array.from({ length: 100 }, (_, j) => `"k${i}_${j}":1`).join(',')}}`).join(',')}]`,
  ),
)
const ones = (field: string, bytes = 16 * MiB) => once(() => filled(bytes, `{"${field}":[`, '1', ']}'))
const bulkOfOnes = ones('messages')
const longTexts = once(() =>
  json({ messages: Array(1_000).fill({ to: '+4915112345678', type: 'text', text: 'x'.repeat(16_000) }) }),
)
const wrongMessages = once(() =>
  json({ messages: Array(1_000).fill({ buttons: Array(50).fill({}), variables: { a: 1 }, to: 'x', text: '\u0000' }) }),
)
const wrongRecipients = once(() => json({ name: 'x', recipients: Array(100_000).fill({ to: 'x', variables: { a: {} } }) }))
const distinctRecipients = once(() => {
  const recipients = Array.from({ length: 100_000 }, (_, i) => ({ to: `+49151${1_000_000 + i}`, variables: { a: 'x', b: 'y' } }))
  return json({ instanceId: nobody, name: 'x', type: 'text', text: 'x', recipients })
})
const uuids = (count: number) =>
  Array.from({ length: count }, (_, i) => `01900000-0000-7000-8000-${i.toString(16).padStart(12, '0')}`)
const manyContacts = once(() => json({ instanceId: nobody, name: 'x', type: 'text', text: 'x', contactIds: uuids(100_000) }))
const wrongIds = once(() => json({ contactIds: Array.from({ length: 26_000 }, (_, i) => `not an id, nor anything ${i}`) }))
const tenThousandWrong = once(() => json({ contactIds: Array.from({ length: 10_000 }, (_, i) => `x${i}`) }))
const deleting = 'mutation ($contactIds: [ID!]!) { bulkDeleteContacts(contactIds: $contactIds) { deleted } }'
const graphIds = (ids: unknown[]) => once(() => json({ query: deleting, variables: { contactIds: ids } }))
const graphWrongIds = graphIds(Array.from({ length: 30_000 }, (_, i) => ({ i })))
const graphManyIds = graphIds(Array(1_000_000).fill(''))
const graphRecipients = once(() =>
  json({
    query: 'mutation ($input: CreateCampaignInput!) { createCampaign(input: $input) { id } }',
    variables: { input: JSON.parse(String(wrongRecipients())) },
  }),
)
const login = once(() => filled(MiB, '{"email":"a@example.com","password":"x","a":[', '[]', ']}'))
const smallLogin = once(() => filled(16 * 1024, '{"email":"a@example.com","password":5,"a":[', '[]', ']}'))

const anonymous: Attack[] = [
  ['lists to /graphql under one key that is none', [401], () => ({ path: '/graphql', headers: unknownKey(0), body: lists() })],
  ['lists to /graphql under keys that are none', [401], (i) => ({ path: '/graphql', headers: unknownKey(i), body: lists() })],
  ['lists to /graphql without a key', [401], () => ({ path: '/graphql', body: lists() })],
  ['lists to /graphql as a stream', [401], () => ({ path: '/graphql', headers: { accept: 'text/event-stream' }, body: lists() })],
  ['lists to /graphql/stream', [401], (i) => ({ path: '/graphql/stream', headers: unknownKey(i), body: login() })],
  ['a token that is none', [401], () => ({ path: '/graphql', headers: { authorization: 'Bearer a.b.c' }, body: lists() })],
  ['lists to a bulk', [401], (i) => ({ path: '/api/v1/messages/bulk', headers: unknownKey(i), body: bulkOfOnes() })],
  ['1 MiB to the login', [413], () => ({ path: '/api/auth/login', body: login() })],
  ['16 KiB of lists to the login', [400], () => ({ path: '/api/auth/login', body: smallLogin() })],
]

const signedIn: Attack[] = [
  ['lists', [400, 429], () => ({ path: '/graphql', headers: person, body: lists() })],
  ['lists within the bounds', [200, 429], () => ({ path: '/graphql', headers: person, body: listsWithinBounds() })],
  ['objects', [200, 429], () => ({ path: '/graphql', headers: person, body: objects() })],
  ['lists, by a key', [200, 429], () => ({ path: '/graphql', headers: key, body: listsWithinBounds() })],
  [
    'lists, as a stream',
    [200, 429],
    () => ({ path: '/graphql', headers: { ...person, accept: 'text/event-stream' }, body: listsWithinBounds() }),
  ],
  ['a comment of 15 MiB', [200, 400, 429], () => ({ path: '/graphql', headers: person, body: comment() })],
  ['a string of 15 MiB', [200, 400, 429], () => ({ path: '/graphql', headers: person, body: oneString() })],
  ['objects of 900,000 different names', [400, 429], () => ({ path: '/api/campaigns', headers: person, body: names() })],
  ['16 MiB of ones to a bulk', [400, 429], () => ({ path: '/api/messages/bulk', headers: person, body: bulkOfOnes() })],
  ['1,000 long texts to a bulk', [202, 429], () => ({ path: '/api/messages/bulk', headers: person, body: longTexts() })],
  ['1,000 wrong messages to a bulk', [202, 429], () => ({ path: '/api/messages/bulk', headers: person, body: wrongMessages() })],
  ['100,000 wrong recipients', [400, 429], () => ({ path: '/api/campaigns', headers: person, body: wrongRecipients() })],
  ['100,000 recipients', [404, 429], () => ({ path: '/api/campaigns', headers: person, body: distinctRecipients() })],
  ['100,000 contacts of a campaign', [404, 429], () => ({ path: '/api/campaigns', headers: person, body: manyContacts() })],
  ['100,000 wrong recipients, by the graph', [200, 429], () => ({ path: '/graphql', headers: person, body: graphRecipients() })],
  ['26,000 ids that are none', [400, 429], () => ({ path: '/api/contacts/bulk-delete', headers: person, body: wrongIds() })],
  [
    '10,000 ids that are none',
    [400, 429],
    () => ({ path: '/api/contacts/bulk-delete', headers: person, body: tenThousandWrong() }),
  ],
  ['30,000 ids that are none, by the graph', [200, 429], () => ({ path: '/graphql', headers: person, body: graphWrongIds() })],
  ['1,000,000 ids, by the graph', [200, 429], () => ({ path: '/graphql', headers: person, body: graphManyIds() })],
]

describe.each([
  ['nobody known', anonymous],
  ['somebody signed in', signedIn],
])('sender: %s', (_, attacks) => {
  it.each(attacks)('delays no other caller, leaks nothing: %s', { timeout: 120_000, retry: 2 }, async (name, statuses, shot) => {
    await expectHarmless(rig.gateway, noticed, name, statuses, shot)
  })
})

it('returns the memory after the attacks end', { timeout: 120_000 }, async () => {
  noticed.stop()
  await until(() => residentBytes(rig.gateway.pid) < atFirstBytes + mostBytes, { timeoutMs: 100_000, everyMs: 1_000 })
})

it('leaves no campaign behind', async () => {
  const { rows } = await sql(rig.databaseUrl).query('select count(*)::int as n from campaigns')
  expect(rows).toEqual([{ n: 0 }])
})

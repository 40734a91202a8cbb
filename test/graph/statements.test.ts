// Proves the absence of N+1 queries: a query of five levels takes the same number of SQL statements for every page size.
import { parse } from 'graphql'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyUse } from '../../src/accounts/keys/key-use.ts'
import { openApp } from '../../src/app.ts'
import { admitKeys } from '../../src/billing/admission/admit.ts'
import { readConfig } from '../../src/core/config/config.ts'
import type { Context } from '../../src/core/context.ts'
import { executeOperation } from '../../src/core/graph/execute.ts'
import { newId } from '../../src/core/id.ts'
import { contextOf } from '../../src/http/authenticate.ts'
import { refuseCostly } from '../../src/http/graphql-limits.ts'
import { schema } from '../../src/schema.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { secretKey } from '../kit/environment.ts'

const pages = [1, 20, 100]
let openContext: () => Promise<Context>
let app: Awaited<ReturnType<typeof openApp>>

beforeAll(async () => {
  const databaseUrl = await cloneDatabase()
  const { config, secrets } = readConfig({ DATABASE_URL: databaseUrl, SECRET_KEY: secretKey, RATE_LIMIT_PER_SECOND: '100000' })
  app = await openApp({ config, secrets, databaseUrl })
  // The use of a key is written a minute later, possibly while statements are counted.
  keyUse(app).note = () => {}
  const account = await createAccount(databaseUrl)
  openContext = async () => {
    const { principal } = await admitKeys(app)({ key: account.apiKey, teamId: undefined, access: ['full'], scope: 'workspace' })
    return contextOf(app, principal as NonNullable<typeof principal>, 'test')
  }
  await seed(databaseUrl, account)
})

afterAll(() => app[Symbol.asyncDispose]())

/**
 * 120 messages, each through its own instance and about its own contact, with an event and two deliveries each. Each contact is
 * in two of 120 groups, of two contacts each. Each message belongs to a campaign of its own.
 */
async function seed(databaseUrl: string, account: { userId: string; workspaceId: string }): Promise<void> {
  const pool = sql(databaseUrl)
  const endpoints = [newId(), newId()]
  for (const id of endpoints) {
    await pool.query(
      `insert into webhook_endpoints (id, "workspaceId", url, events, secret) values ($1, $2, 'https://example.com/', '{message.sent}', '')`,
      [id, account.workspaceId],
    )
  }
  for (let i = 0; i < 120; i++) {
    const { id: instanceId } = await connectedInstance(databaseUrl, account)
    const [contactId, messageId, eventId] = [newId(), newId(), newId()]
    const to = `+39333123${1000 + i}`
    await pool.query('insert into contacts (id, "workspaceId", name, phone, tags) values ($1, $2, $3, $4, $5)', [
      contactId,
      account.workspaceId,
      `Contact ${i}`,
      to,
      [],
    ])
    await pool.query(
      `insert into messages (id, "workspaceId", "userId", "instanceId", "contactId", type, "to", peer, body, status, warnings, safety)
       values ($1, $2, $3, $4, $5, 'text', $6, $6, 'Hello', 'sent', '{}', '{"decision":"allow","riskLevel":"low","state":"stable","score":100}')`,
      [messageId, account.workspaceId, account.userId, instanceId, contactId, to],
    )
    await pool.query(
      `with campaign as (
         insert into campaigns (id, "workspaceId", "userId", "instanceId", name, type, body, status, "recipientsCount")
         values (gen_random_uuid(), $1, $2, $3, 'Campaign', 'text', 'Hello', 'completed', 1) returning id
       ), recipient as (
         insert into campaign_recipients ("campaignId", position, "to", "contactId", status, "messageId")
         select id, 1, $5, $6, 'enqueued', $4 from campaign
       ) update messages set "campaignId" = campaign.id from campaign where messages.id = $4`,
      [account.workspaceId, account.userId, instanceId, messageId, to, contactId],
    )
    await pool.query(
      `insert into events (seq, id, "workspaceId", type, "instanceId", "messageId", payload, "createdAt") values ($1, $2, $3, 'message.sent', $4, $5, '{}', now())`,
      [i + 1, eventId, account.workspaceId, instanceId, messageId],
    )
    for (const endpointId of endpoints) {
      await pool.query(
        `insert into webhook_deliveries (id, "endpointId", "eventSeq", "eventId", type) values ($1, $2, $3, $4, 'message.sent')`,
        [newId(), endpointId, i + 1, eventId],
      )
    }
  }
  await pool.query('update event_sequence set last = 120')
  await pool.query(
    `insert into contact_groups (id, "workspaceId", name, "membersCount") select gen_random_uuid(), $1, 'Group ' || i, 2 from generate_series(0, 119) i`,
    [account.workspaceId],
  )
  await pool.query(
    `insert into contact_group_members ("groupId", "contactId") select g.id, c.id from generate_series(0, 119) i
     join contact_groups g on g.name = 'Group ' || i join contacts c on c.name in ('Contact ' || i, 'Contact ' || (i + 1) % 120)`,
  )
}

/** The texts of the statements that a document takes, and its data. */
async function statementsOf(query: string, first: number): Promise<{ texts: string[]; data: Record<string, unknown> }> {
  const context = await openContext()
  const document = parse(query)
  const variables = { first }
  expect(refuseCostly({ schema, document, variableValues: variables })).toBeNull()
  const texts: string[] = []
  const plain = pg.Client.prototype.query
  const counting = function (this: pg.Client, ...args: unknown[]) {
    const [asked] = args
    texts.push(typeof asked === 'string' ? asked : (asked as { text: string }).text)
    return (plain as (...args: unknown[]) => unknown).apply(this, args)
  }
  pg.Client.prototype.query = counting as typeof plain
  try {
    const result = await executeOperation({ schema, document, variables, context })
    expect(result.errors).toBeUndefined()
    return { texts, data: result.data as Record<string, unknown> }
  } finally {
    pg.Client.prototype.query = plain
  }
}

const health = 'health { safetyScore warmupPolicy { state } usageWindowSummary { outbound1h } }'
const queries: [name: string, most: number, query: string][] = [
  [
    'events, messages, instances, their health and its policy',
    3,
    `query ($first: Int) { events(first: $first) { nodes { id payload instance { name } message { body safety { score } contact { name } instance { name state { status } ${health} } } } } }`,
  ],
  [
    'messages, instances, their health and its policy, contacts',
    3,
    `query ($first: Int) { messages(first: $first) { edges { cursor node { id timeline { status at } contact { name phone } instance { name state { connected } ${health} } } } pageInfo { endCursor hasNextPage } } }`,
  ],
  [
    'a history',
    3,
    `query ($first: Int) { history(phone: "+393331231000", first: $first) { nodes { id instance { ${health} } } } }`,
  ],
  ['messages and how many there are', 2, 'query ($first: Int) { messages(first: $first) { totalCount nodes { id } } }'],
  [
    'messages beside instances and their health',
    3,
    `query ($first: Int) { messages(first: $first) { nodes { id } } instances { name ${health} } }`,
  ],
  [
    'endpoints, deliveries and their payloads',
    3,
    'query ($first: Int) { webhooks { url deliveries(first: $first) { nodes { status event payload } } } }',
  ],
  [
    'contacts, their groups and the members of those',
    3,
    'query ($first: Int) { contacts(first: $first) { nodes { name groups { name members(first: 1) { totalCount edges { addedAt node { name } } } } } } }',
  ],
  [
    'groups, their members, the groups and members of those, and how many',
    5,
    'query ($first: Int) { contactGroups(first: $first) { totalCount nodes { members(first: 1) { nodes { groups { members(first: 2) { nodes { id } } } } } } } }',
  ],
  [
    'a search among the members of groups, with how many it finds',
    3,
    'query ($first: Int) { contactGroups(first: $first) { nodes { members(first: 2, search: "contact") { totalCount nodes { name } } } } }',
  ],
  [
    'contacts, their messages, the contacts and groups of those',
    4,
    'query ($first: Int) { contacts(first: $first) { nodes { messages(first: 2) { nodes { body contact { name groups { name } } } } } } }',
  ],
  [
    'campaigns, their instances and messages, the contacts and instances of those',
    2,
    'query ($first: Int) { campaigns(first: $first) { nodes { name instance { name } messages(first: 2) { nodes { body contact { name } instance { name } } } } } }',
  ],
  [
    'campaigns, their recipients, the contacts and messages of those',
    4,
    'query ($first: Int) { campaigns(first: $first) { nodes { recipients(first: 2) { nodes { to contact { name } message { status } } } } } }',
  ],
  [
    'messages, their contacts and the groups of those',
    2,
    'query ($first: Int) { messages(first: $first) { nodes { contact { name groups { name membersCount } } } } }',
  ],
]

describe('the number of statements', () => {
  it.each(queries)('for %s is at most %i for every page size', async (_, most, query) => {
    const counts: Record<number, number> = {}
    for (const first of pages) {
      const { texts } = await statementsOf(query, first)
      counts[first] = texts.length
      expect(texts.length).toBeGreaterThan(0)
    }
    expect(new Set(Object.values(counts)).size).toBe(1)
    expect(counts[100]).toBeLessThanOrEqual(most)
  })

  it('is measured on pages that are really full', async () => {
    for (const first of pages) {
      const { data } = await statementsOf((queries[0] as (typeof queries)[0])[2], first)
      const { nodes } = data.events as { nodes: { message: { contact: { name: string }; instance: { health: object } } }[] }
      expect(nodes).toHaveLength(first)
      expect(new Set(nodes.map(({ message }) => message.contact.name)).size).toBe(first)
      expect(nodes[0]?.message.instance.health).toMatchObject({ safetyScore: expect.any(Number) })
    }
    const members =
      'query ($first: Int) { contacts(first: $first) { nodes { groups { members(first: 2) { nodes { name } } } } } }'
    const { data } = await statementsOf(members, 20)
    const { nodes } = data.contacts as { nodes: { groups: { members: { nodes: { name: string }[] } }[] }[] }
    expect(nodes.map(({ groups }) => groups.map((group) => group.members.nodes.length))).toEqual(Array(20).fill([2, 2]))
  })
})

it.each([
  ['messages(first: $first) { nodes { status } }', 'body'],
  ['campaigns(first: $first) { nodes { name messages(first: 1) { nodes { status } } } }', 'body'],
  ['contactGroups(first: $first) { nodes { name } }', 'membersCount'],
  ['contacts(first: $first) { nodes { name messages(first: 1) { nodes { status } } } }', 'custom'],
  ['webhooks { deliveries(first: $first) { nodes { status } } }', 'payload'],
])('a list reads only the columns that the selection needs: %s', async (list, column) => {
  const { texts } = await statementsOf(`query ($first: Int!) { ${list} }`, 20)
  const lists = texts.filter((text) => / limit \d+/.test(text))
  expect(lists.length).toBeGreaterThan(0)
  for (const text of lists) expect(text).not.toMatch(new RegExp(`\\b${column}\\b`))
})

// A page or a count of messages reads the rows that it is about, however large the workspace is and whichever plan is kept.
import { parse } from 'graphql'
import type pg from 'pg'
import { beforeAll, expect, it, vi } from 'vitest'
import type { Context } from '../../src/core/context.ts'
import { executeOperation } from '../../src/core/graph/execute.ts'
import { newId } from '../../src/core/id.ts'
import { schema } from '../../src/schema.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { rowsRead } from '../kit/rows-read.ts'
import { contextFor, openApp } from './rig.ts'

const many = 20_000
const few = 5
const ownNumber = '+4930000000'
let ctx: Context
let large: { id: string }
let small: { instanceId: string; campaignId: string; contactId: string }

/** A workspace with many messages, and a few of one instance, campaign and contact; and 200 small workspaces. */
beforeAll(async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const { workspaceId, userId } = account
  const pool = sql(databaseUrl)
  large = await connectedInstance(databaseUrl, account)
  small = { instanceId: (await connectedInstance(databaseUrl, account)).id, campaignId: newId(), contactId: newId() }
  const campaignId = newId()
  for (const id of [campaignId, small.campaignId]) {
    await pool.query(
      `insert into campaigns (id, "workspaceId", "userId", "instanceId", name, type, body, status, "recipientsCount")
       values ($1, $2, $3, $4, 'C', 'text', 'hello', 'completed', 1)`,
      [id, workspaceId, userId, large.id],
    )
  }
  await pool.query(`insert into contacts (id, "workspaceId", name, phone) values ($1, $2, 'Ada', '+4915100000000')`, [
    small.contactId,
    workspaceId,
  ])
  const add = async (n: number, of: { workspaceId: string; instanceId: string; campaignId?: string; contactId?: string }) =>
    await pool.query(
      `insert into messages (id, "workspaceId", "userId", "instanceId", "campaignId", "contactId", type, "to", peer, body, status, safety,
         "acceptedAt", "createdAt")
       select gen_random_uuid(), $2, $3, $4, $5, $6, 'text', '+49151' || i, '+49151' || i, 'hello', 'read', '{}', now(),
         now() - i * interval '1 minute' from generate_series(1, $1::int) i`,
      [n, of.workspaceId, userId, of.instanceId, of.campaignId ?? null, of.contactId ?? null],
    )
  await add(many, { workspaceId, instanceId: large.id, campaignId })
  await add(few, { workspaceId, ...small })
  // The oldest are on their way, or came in.
  for (const [status, direction, leftAt] of [
    ['queued', 'outbound', null],
    ['sending', 'outbound', null],
    ['sending', 'outbound', new Date()],
    ['received', 'inbound', null],
  ]) {
    await pool.query(
      `update messages set status = $2::message_status, direction = $3::direction, "acceptedAt" = $4 where id = any(array(
         select id from messages where "workspaceId" = $1 and status = 'read' and "campaignId" = $5 order by "createdAt" limit 3))`,
      [workspaceId, status, direction, leftAt, campaignId],
    )
  }
  await pool.query(`update messages set "to" = $1 where direction = 'inbound'`, [ownNumber])
  await pool.query(
    `update messages set "to" = $1, peer = $1 where "workspaceId" = $2 and "to" = $3 and "campaignId" is not null`,
    [ownNumber, workspaceId, `+49151${many / 2}`],
  )
  const others = Array.from({ length: 200 }, newId)
  await pool.query('insert into workspaces (id, "ownerId") select id, $2 from unnest($1::uuid[]) id', [others, userId])
  for (const other of others) await add(1, { workspaceId: other, instanceId: large.id })
  await pool.query('vacuum analyze messages')
  ctx = contextFor(await openApp(databaseUrl), account)
})

/** The rows that the statements of an operation read from messages, by plans for any values. */
async function readBy(selection: string, filter: object): Promise<number> {
  const document = parse(`query ($filter: MessageFilter) { messages(filter: $filter, first: 20) { ${selection} } }`)
  const spy = vi.spyOn(ctx.app.pool, 'query')
  const { errors } = await executeOperation({ schema, document, variables: { filter }, context: { ...ctx } })
  expect(errors).toBeUndefined()
  const calls = spy.mock.calls as unknown as [pg.QueryConfig | string, unknown[] | undefined][]
  spy.mockRestore()
  const asked = calls.map(([query, values]) => (typeof query === 'string' ? { text: query, values } : query))
  const statements = asked.filter(({ text }) => text.includes('from messages'))
  expect(statements.length).toBeGreaterThan(0)
  return await rowsRead(ctx.app.pool, statements)
}

it.each(['instanceId', 'campaignId', 'contactId'] as const)(
  'a page of the few messages of one %s does not read those of the workspace, with any other filter',
  async (parent) => {
    const of = { [parent]: small[parent] }
    for (const further of [
      { status: 'queued' },
      { type: 'buttons' },
      { text: 'bye' },
      { direction: 'inbound', status: 'received' },
    ]) {
      expect(await readBy('nodes { id }', { ...of, ...further }), JSON.stringify(further)).toBeLessThan(100)
    }
  },
)

it.each(['instanceId', 'campaignId', 'contactId'] as const)(
  'a count of the few messages of one %s does not read those of the workspace',
  async (parent) => {
    expect(await readBy('totalCount', { [parent]: small[parent], status: 'read' })).toBeLessThan(100)
  },
)

const rare = [
  { to: ownNumber },
  { status: 'queued' },
  { status: 'sending' },
  { statuses: ['queued', 'sending'] },
  { direction: 'inbound' },
  { status: 'received' },
]

it.each(rare)(
  'a page and a count of the few messages that are %o do not read the others of the workspace or instance',
  async (filter) => {
    for (const parent of [{}, { instanceId: large.id }]) {
      // A page looks at the latest 1,000 messages first, and is read beside a count.
      expect(await readBy('nodes { id }', { ...filter, ...parent })).toBeLessThan(1_500)
      expect(await readBy('totalCount', { ...filter, ...parent })).toBeLessThan(1_500)
    }
  },
)

it.each(rare)('pages of messages that are %o have each of them once, in order, in both directions', async (filter) => {
  const { workspaceId } = ctx.principal
  const [column, value] = Object.entries(filter)[0] as [string, string | string[]]
  const { rows } = await ctx.app.pool.query<{ id: string }>(
    `select id from messages where "workspaceId" = $1 and "${column === 'statuses' ? 'status' : column}"::text = any($2)
     order by "createdAt" desc, id desc`,
    [workspaceId, [value].flat()],
  )
  expect(rows.length).toBeGreaterThan(2)
  for (const parent of [{}, { instanceId: large.id }]) {
    const forward = await all('first: 2, after: $at', { ...filter, ...parent }, 'endCursor')
    const backward = await all('last: 2, before: $at', { ...filter, ...parent }, 'startCursor')
    expect(forward.flat()).toEqual(rows.map(({ id }) => id))
    expect(backward.reverse().flat()).toEqual(forward.flat())
  }
})

/** The ids of all pages. */
async function all(page: string, filter: object, cursor: 'endCursor' | 'startCursor'): Promise<string[][]> {
  const pages: string[][] = []
  const document = parse(`query ($filter: MessageFilter, $at: String) {
    messages(filter: $filter, ${page}) { nodes { id instance { name } } pageInfo { ${cursor} } } }`)
  for (let at: string | null = null; ; ) {
    const variables = { filter, at }
    // biome-ignore lint/suspicious/noExplicitAny: the shape is that of the document
    const { data } = (await executeOperation({ schema, document, variables, context: { ...ctx } })) as any
    if (data.messages.nodes.length === 0) return pages
    pages.push(data.messages.nodes.map(({ id }: { id: string }) => id))
    at = data.messages.pageInfo[cursor]
  }
}

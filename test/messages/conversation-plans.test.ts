// A page of conversations does not read all messages: neither those of a few busy numbers before it, nor the oldest ones.
import { expect, it, vi } from 'vitest'
import { pageOfConversations } from '../../src/messages/conversations.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { rowsRead } from '../kit/rows-read.ts'
import { contextFor, openApp } from './rig.ts'

const busy = 5
const quiet = 2_500
const many = 50_000

/** A workspace with so many messages, one in each minute before now. `number` is the SQL of the end of the number of message `i`. */
async function openHistory(number: string, messages: number) {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const { id: instanceId } = await connectedInstance(databaseUrl, account)
  await sql(databaseUrl).query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, status, safety, "acceptedAt", "createdAt")
     select gen_random_uuid(), $1, $2, $3, 'text', n, n, 'hello', 'read', '{}', now(), now() - i * interval '1 minute'
     from generate_series(1, $4::int) i, lateral (select '+39333' || ${number} as n) number`,
    [account.workspaceId, account.userId, instanceId, messages],
  )
  await sql(databaseUrl).query('vacuum analyze messages')
  const app = await openApp(databaseUrl)
  return { app, ctx: contextFor(app, account) }
}

it('a page behind five numbers with 50,000 messages reads fewer rows than these', async () => {
  const { app, ctx } = await openHistory(`case when i <= ${many} then 1000000 + i % ${busy} else 2000000 + i end`, many + quiet)
  const first = await pageOfConversations(ctx, { first: busy })
  const spy = vi.spyOn(app.pool, 'query')
  const second = await pageOfConversations(ctx, { first: 20, after: first.pageInfo.endCursor })
  const calls = spy.mock.calls as unknown as [text: string, values: unknown[]][]
  spy.mockRestore()
  const oldest = Array.from({ length: 20 }, (_, i) => `+39333${2_000_001 + many + i}`)
  expect(second.edges.map(({ node }) => node.peer)).toEqual(oldest)
  expect(second.pageInfo.hasNextPage).toBe(true)
  expect(
    await rowsRead(
      app.pool,
      calls.map(([text, values]) => ({ text, values })),
    ),
  ).toBeLessThan(many)
})

it('a page from the end looks at each number once in place of all messages, and is refused by name if there are too many numbers', async () => {
  const { app, ctx } = await openHistory('1000000 + (i - 1) % 100', 2_000)
  const within = (numbers: number) => ({ desc: [{ messages: 10, numbers }], asc: [{ messages: 10, numbers }] })
  const spy = vi.spyOn(app.pool, 'query')
  const last = await pageOfConversations(ctx, { last: 2 }, within(101))
  const calls = spy.mock.calls as unknown as [text: string, values: unknown[]][]
  spy.mockRestore()
  expect(last.edges.map(({ node }) => node.peer)).toEqual(['+393331000098', '+393331000099'])
  expect(
    await rowsRead(
      app.pool,
      calls.map(([text, values]) => ({ text, values })),
    ),
  ).toBeLessThan(1_000)

  await expect(pageOfConversations(ctx, { last: 2 }, within(100))).rejects.toMatchObject({
    message: expect.stringMatching(/^last: /),
    extensions: { code: 'VALIDATION_ERROR' },
  })
  const [before] = (await pageOfConversations(ctx, { first: 3 }, within(100))).edges.slice(-1)
  // No others are left before these two.
  const back = await pageOfConversations(ctx, { last: 2, before: before?.cursor as string }, within(100))
  expect(back.edges.map(({ node }) => node.peer)).toEqual(['+393331000000', '+393331000001'])
  expect(back.pageInfo.hasPreviousPage).toBe(false)
})

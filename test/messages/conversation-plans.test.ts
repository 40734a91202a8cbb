// A page of conversations behind a few numbers with very many messages does not read all of these.
import { expect, it, vi } from 'vitest'
import { pageOfConversations } from '../../src/messages/conversations.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { rowsRead } from '../kit/rows-read.ts'
import { contextFor, openApp } from './rig.ts'

const busy = 5
const quiet = 2_500
const many = 50_000

it('a page behind five numbers with 50,000 messages reads fewer rows than these', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const { id: instanceId } = await connectedInstance(databaseUrl, account)
  await sql(databaseUrl).query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, status, safety, "acceptedAt", "createdAt")
     select gen_random_uuid(), $1, $2, $3, 'text', n, n, 'hello', 'read', '{}', now(), now() - i * interval '1 minute'
     from generate_series(1, $4::int + $5::int) i,
       lateral (select '+39333' || case when i <= $4::int then 1000000 + i % $6::int else 2000000 + i end as n) number`,
    [account.workspaceId, account.userId, instanceId, many, quiet, busy],
  )
  await sql(databaseUrl).query('vacuum analyze messages')
  const app = await openApp(databaseUrl)
  const ctx = contextFor(app, account)
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

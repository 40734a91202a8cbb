// Proves that a page of conversations stays fast with a million messages, however they are spread over numbers.
import { beforeAll, expect, it } from 'vitest'
import type { Context } from '../../src/core/context.ts'
import { pageOfConversations, unreadCount } from '../../src/messages/conversations.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { contextFor, openApp } from './rig.ts'

let databaseUrl: string

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
})

/** A workspace with messages to so many numbers, a fifth of them received. */
async function workspaceOf(messages: number, numbers: number): Promise<Context> {
  const account = await createAccount(databaseUrl)
  const { id: instanceId } = await connectedInstance(databaseUrl, account)
  await sql(databaseUrl).query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", direction, type, "to", peer, body, status, safety, "createdAt")
     select gen_random_uuid(), $1, $2, $3, case when g % 5 = 0 then 'inbound' else 'outbound' end::direction, 'text', number, number,
       'Hello', case when g % 5 = 0 then 'received' else 'read' end::message_status, '{}', now() - (g || ' seconds')::interval
     from (select g, '+39' || (3330000000 + g * 7919::bigint % $5::int)::text as number from generate_series(1, $4::int) g) one`,
    [account.workspaceId, account.userId, instanceId, messages, numbers],
  )
  await sql(databaseUrl).query('analyze messages')
  return contextFor(await openApp(databaseUrl), account)
}

/** The least time that a page with its unread counts takes, of several, in milliseconds. */
async function timeOf(ctx: Context, after: string | null = null): Promise<{ ms: number; end: string | null; size: number }> {
  let best = Number.POSITIVE_INFINITY
  let page = await pageOfConversations(ctx, { first: 20, after })
  for (let i = 0; i < 10; i++) {
    const begin = performance.now()
    const fresh = { ...ctx }
    page = await pageOfConversations(fresh, { first: 20, after })
    await Promise.all(page.edges.map(({ node }) => unreadCount(fresh, node.peer)))
    best = Math.min(best, performance.now() - begin)
  }
  return { ms: best, end: page.pageInfo.endCursor, size: page.edges.length }
}

it('a page among a million messages takes at most thirty times as long as among a thousand', async () => {
  const small = await timeOf(await workspaceOf(1_000, 100))
  const times: Record<string, number> = { small: small.ms }
  for (const numbers of [10, 1_000, 100_000]) {
    const ctx = await workspaceOf(1_000_000, numbers)
    const first = await timeOf(ctx)
    expect(first.size).toBe(Math.min(20, numbers))
    times[`of ${numbers} numbers`] = first.ms
    if (numbers > 20) times[`of ${numbers} numbers, second page`] = (await timeOf(ctx, first.end)).ms
  }
  for (const [name, ms] of Object.entries(times)) expect(ms, name).toBeLessThan(30 * small.ms)
}, 600_000)

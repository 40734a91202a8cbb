// What is accepted together: bulks that come at once, and what comes beside them.
import { beforeAll, expect, it } from 'vitest'
import { sendMessage, sendMessages } from '../../src/messages/service.ts'
import { type Account, cloneDatabase, connectedInstance, createAccount, sql } from '../kit/kit.ts'
import { contextFor, openApp } from './rig.ts'

let databaseUrl: string
let account: Account
let instanceId: string

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  account = await createAccount(databaseUrl)
  instanceId = (await connectedInstance(databaseUrl, account)).id
})

/** How many messages each transaction stored, by their text. */
async function transactions(): Promise<{ body: string; count: number }[]> {
  const { rows } = await sql(databaseUrl).query<{ body: string; count: number }>(
    `select min(body) as body, count(*)::int as count from messages where "workspaceId" = $1 group by xmin order by 1, 2`,
    [account.workspaceId],
  )
  return rows
}

it('is one bulk or many single messages, so that no transaction grows with how many bulks come at once', async () => {
  const app = await openApp(databaseUrl)
  const ctx = contextFor(app, account)
  const message = (text: string) => ({ instanceId, to: '+393331234567', type: 'text', text })
  const bulks = Array.from({ length: 5 }, () => sendMessages(ctx, Array(200).fill(message('bulk'))))
  const singles = Array.from({ length: 20 }, () => sendMessage(ctx, message('single')))
  for (const { rejected } of await Promise.all(bulks)) expect(rejected).toEqual([])
  await Promise.all(singles)
  expect(await transactions()).toEqual([...Array(5).fill({ body: 'bulk', count: 200 }), { body: 'single', count: 20 }])
})

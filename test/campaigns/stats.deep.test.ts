// The statistics of a page of campaigns at rest do not take longer with the number of their messages, once they were counted.
import { expect, it } from 'vitest'
import { statsOf } from '../../src/campaigns/stats.ts'
import { newId } from '../../src/core/id.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { measuredAgain } from '../kit/measured.ts'
import { contextFor, openApp } from '../messages/rig.ts'

const [campaigns, each] = [100, 2_000]

it('a page of 100 campaigns with 200,000 messages is counted once, and then read in a third of that time', {
  ...measuredAgain,
  timeout: 300_000,
}, async () => {
  const databaseUrl = await cloneDatabase()
  const pool = sql(databaseUrl)
  const account = await createAccount(databaseUrl)
  const { id: instanceId } = await connectedInstance(databaseUrl, account)
  const ids = Array.from({ length: campaigns }, newId)
  const own = [account.workspaceId, account.userId, instanceId, ids]
  await pool.query(
    `insert into campaigns (id, "workspaceId", "userId", "instanceId", name, type, body, status, "recipientsCount", "updatedAt")
     select id, $1, $2, $3, 'News', 'text', 'Hello', 'completed', ${each}, now() - interval '1 hour' from unnest($4::uuid[]) id`,
    own,
  )
  await pool.query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", "campaignId", type, "to", peer, body, status, safety, "updatedAt")
     select gen_random_uuid(), $1, $2, $3, id, 'text', '+493012345', '+493012345', 'Hello', 'read', '{}', now() - interval '1 hour'
     from unnest($4::uuid[]) id, generate_series(1, ${each})`,
    own,
  )
  await pool.query('vacuum (analyze) messages')
  const app = await openApp(databaseUrl)
  const read = async (from: typeof app) => {
    const ctx = contextFor(from, account)
    const begin = performance.now()
    const all = await Promise.all(ids.map((id) => statsOf(ctx, id)))
    expect(new Set(all.map(({ stats }) => stats.read))).toEqual(new Set([each]))
    return performance.now() - begin
  }
  const middle = (times: number[]) => times.sort((a, b) => a - b)[times.length >> 1] as number
  const [cold, kept]: [number[], number[]] = [[], []]
  // A copy of the App has kept nothing yet.
  for (let round = 0; round < 7; round++) cold.push(await read({ ...app }))
  await read(app)
  for (let round = 0; round < 7; round++) kept.push(await read(app))
  console.log(`statistics of ${campaigns} campaigns: ${middle(cold).toFixed(0)} ms counted, ${middle(kept).toFixed(1)} ms kept`)
  expect(middle(kept)).toBeLessThan(middle(cold) / 3)
})

// The sweep finds the one key without a check, however many others have messages that wait, and leaves those alone.
import { expect, it } from 'vitest'
import { ensureChecks, holdJob } from '../../src/messages/dispatch/hold-job.ts'
import { sweepImplementation } from '../../src/messages/dispatch/sweep.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openApp } from './rig.ts'

it('gives the last of 5,001 keys the check that it lost, and writes none of the others', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const { id: instanceId } = await connectedInstance(databaseUrl, account)
  const app = await openApp(databaseUrl)
  const db = sql(databaseUrl)
  const keys = Array.from({ length: 5_001 }, (_, n) => `recipient ${instanceId} +39333${1_000_000 + n}`)
  await db.query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, safety, "waitingSince", "heldBy")
     select gen_random_uuid(), $1, $2, $3, 'text', key, key, 'hello', '{}', now(), key from unnest($4::text[]) key`,
    [account.workspaceId, account.userId, instanceId, keys],
  )
  await ensureChecks(app, db, keys.slice(0, -1), new Date())
  await db.query('vacuum analyze messages, pgboss.job_common')
  const checks = async () =>
    (await db.query(`select singleton_key as key, ctid from pgboss.job where name = $1 order by 1`, [holdJob.name])).rows
  const before = await checks()
  await sweepImplementation.run(app, [{}])
  const after = await checks()
  expect(after.slice(0, -1)).toEqual(before)
  expect(after.at(-1).key).toBe(keys.at(-1))
})

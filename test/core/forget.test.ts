// Proves that the erasure of stored results changes those that it read and no other, beside requests that use the same keys.
import { expect, it } from 'vitest'
import { forgetResults } from '../../src/core/idempotency/forget.ts'
import { sendMessage } from '../../src/messages/service.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { openWorkspace } from '../messages/rig.ts'

/** A workspace, with requests that send one message under a key. */
async function openSender() {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  async function send(key: string): Promise<object> {
    const idempotency = { key, fingerprint: Buffer.from('once'), replayed: false }
    return await sendMessage({ ...ctx, idempotency }, { instanceId, to: '+393331234501', type: 'text', text: 'hello' })
  }
  return { databaseUrl, app, workspaceId: ctx.principal.workspaceId, send }
}

it('leaves the result of a request that takes an expired key while the results are looked at', async () => {
  const { databaseUrl, app, workspaceId, send } = await openSender()
  await send('once')
  let second: object | undefined
  await forgetResults(app, workspaceId, 'peer', async (records) => {
    await sql(databaseUrl).query(`update idempotency_keys set "createdAt" = now() - interval '73 hours'`)
    second = await send('once')
    return records
  })
  expect(await send('once')).toEqual(second)
})

it('locks keys in the order of requests with several keys, so that neither ends the other by a deadlock', async () => {
  const { databaseUrl, app, workspaceId, send } = await openSender()
  const pool = sql(databaseUrl)
  // As in a database of another locale than that of the embedded server, which sorts `B` before `a`.
  await pool.query('alter table idempotency_keys alter column key type text collate "en-x-icu"')
  for (const key of ['a', 'B']) await send(key)
  await whileHeld(
    databaseUrl,
    [`select from idempotency_keys where key = 'B' for update`],
    [() => forgetResults(app, workspaceId, 'peer', (records) => records)],
    [`select from idempotency_keys where key = 'a' for update nowait`],
  )
  for (const key of ['a', 'B']) await expect(send(key)).rejects.toMatchObject({ extensions: { code: 'NOT_FOUND' } })
})

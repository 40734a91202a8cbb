// A large import holds up no outcome of a send, which may have to add one of its numbers.
import { expect, it } from 'vitest'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { settlement } from '../../src/messages/dispatch/settle.ts'
import { sendMessage } from '../../src/messages/service.ts'
import { optedOut } from '../../src/providers/outgoing.ts'
import { importSuppressions } from '../../src/suppressions/import.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openWorkspace } from '../messages/rig.ts'

it('stores that a recipient opted out while the rest of a file with its number is being imported', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const [first, ...others] = Array.from({ length: 1_001 }, (_, i) => `+39333701${String(i).padStart(4, '0')}`)
  const last = others.at(-1)
  const { id } = await sendMessage({ ...ctx }, { instanceId, to: first ?? '', type: 'text', text: 'hello' })
  const [message] = (await claimMessages(app, [id])).claimed
  const pool = sql(databaseUrl)
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query(`insert into suppressions (id, "workspaceId", phone, reason) values (gen_random_uuid(), $1, $2, 'manual')`, [
    ctx.principal.workspaceId,
    last,
  ])
  const imported = importSuppressions({ ...ctx }, { text: [first, ...others].join('\n') })
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until(async () => (await pool.query(waiting)).rowCount === 1)

  await settlement(app)({ message: message as never, outcome: { outcome: 'refused', error: optedOut } })
  expect((await pool.query(waiting)).rowCount).toBe(1)
  await holder.query('commit')
  holder.release()
  expect(await imported).toEqual({ added: 1_000, existing: 1, invalid: 0 })
  expect((await pool.query('select from messages where id = $1 and error = $2', [id, optedOut])).rowCount).toBe(1)
})

// Reading the traffic of a busy instance does not delay the messages of other accounts.
import { expect, it, vi } from 'vitest'
import { readAcquainted } from '../../src/messages/safety/traffic.sql.ts'
import { sendMessage } from '../../src/messages/service.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { rowsRead } from '../kit/rows-read.ts'
import { until } from '../kit/until.ts'
import { contextFor, openApp, openWorkspace } from './rig.ts'

const to = '+4915112345678'

it('accepts a message while one of another account waits for the traffic of its instance', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const busy = await createAccount(databaseUrl)
  const { id: busyInstance } = await connectedInstance(databaseUrl, busy)
  const query = app.pool.query.bind(app.pool) as (config: { name?: string; values?: unknown[] }, values?: unknown[]) => unknown
  const gate = Promise.withResolvers<void>()
  let waits = 0
  vi.spyOn(app.pool, 'query').mockImplementation((async (config: { name?: string; values?: unknown[] }, values?: unknown[]) => {
    if (config.name === 'messages.traffic' && JSON.stringify(config.values).includes(busyInstance)) {
      waits++
      await gate.promise
    }
    return await query(config, values)
  }) as never)
  const message = { to, type: 'text', text: 'hello' }
  const slow = [1, 2].map(() => sendMessage(contextFor(app, busy), { ...message, instanceId: busyInstance }))
  await expect(sendMessage(ctx, { ...message, instanceId })).resolves.toMatchObject({ status: 'queued' })
  await until(() => waits > 0)
  gate.resolve()
  expect(await Promise.all(slow)).toHaveLength(2)
  expect(waits).toBe(1)
})

it('looks at 1,000 messages at most to find if an instance knows a number', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const [own, other] = await Promise.all([1, 2].map(() => connectedInstance(databaseUrl, account)))
  const pool = sql(databaseUrl)
  const add = (instanceId: string | undefined, count: number, minutes: number) =>
    pool.query(
      `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, status, safety, "acceptedAt", "createdAt")
       select gen_random_uuid(), $1, $2, $3, 'text', $4, $4, 'hello', 'read', '{}', at, at
       from generate_series(1, $5::int) i, lateral (select now() - interval '2 days' - (i + $6::int) * interval '1 minute' as at) x`,
      [account.workspaceId, account.userId, instanceId, to, count, minutes],
    )
  await add(other?.id, 20_000, 1_000)
  await pool.query('analyze messages')
  const statements: { text: string; values?: unknown[] }[] = []
  const app = await openApp(databaseUrl)
  const pair = { instanceId: own?.id ?? '', to, from: new Date(Date.now() - 86_400_000) }
  await readAcquainted(
    {
      query: (async (config: never) => {
        statements.push(config)
        return { rows: [] }
      }) as never,
    },
    [pair],
  )
  expect(await rowsRead(pool, statements)).toBeLessThan(1_500)
  expect(await readAcquainted(app.pool, [pair])).toEqual([])
  await add(own?.id, 1, 0)
  expect(await readAcquainted(app.pool, [pair])).toEqual([{ instanceId: own?.id, to }])
})

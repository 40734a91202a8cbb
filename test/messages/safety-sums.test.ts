// The sums that PostgreSQL makes of an instance's traffic are those of its single messages.
import { expect, it, vi } from 'vitest'
import { readWholeWindow, readWindow } from '../../src/messages/safety/read-window.ts'
import { safetyCache } from '../../src/messages/safety/safety.ts'
import { count, trafficOf } from '../../src/messages/safety/window.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openApp } from './rig.ts'

const instance = { disconnections: [] }

it('adds up 3,000 messages of every kind as reading them one by one does', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const { id } = await connectedInstance(databaseUrl, account)
  // Spread over three days by a fixed sequence: sent, failed, waiting, scheduled and received, with marks and without, some from before.
  await sql(databaseUrl).query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", direction, type, "to", peer, body, status, safety, cold, "handedAt", "acceptedAt",
       "scheduledAt", "dueAt", "createdAt")
     select gen_random_uuid(), $1, $2, $3, (case when k = 0 then 'inbound' else 'outbound' end)::direction, 'text', n, n, 'hello',
       (case k when 0 then 'received' when 1 then 'queued' when 2 then 'failed' else 'sent' end)::message_status, '{}',
       case i % 3 when 0 then true when 1 then false end, case when k > 1 and i % 5 > 0 then at end, case when k > 1 then at end,
       case when i % 11 = 0 then at end, case when k = 1 then at + interval '1 day' else at end, case when i % 11 = 0 then at - interval '2 days' else at end
     from generate_series(1, 3000) i, lateral (select i % 7 as k, '+39333' || 1000000 + i * 37 % 2400 as n,
       now() - interval '70 hours' + i * 7919 % 4300 * interval '1 minute' as at) x`,
    [account.workspaceId, account.userId, id],
  )
  const app = await openApp(databaseUrl)
  const now = Date.now()
  for (const hours of [-30, -3, 0, 2]) {
    const at = new Date(now + hours * 3_600_000)
    const whole = await readWholeWindow(app, app.pool, id, at, at)
    const [known = ''] = whole.recipients.keys()
    expect(trafficOf(whole, instance, at).coldRecipients24h).toBeGreaterThan(0)
    const summed = await readWindow(app, app.pool, id, at, [known])
    expect(trafficOf(summed, instance, at)).toEqual(trafficOf(whole, instance, at))
    expect([...summed.minutes].sort()).toEqual([...whole.minutes].sort())
    expect([summed.history, summed.recipients.get(known)]).toEqual([whole.history, whole.recipients.get(known)])
    for (const to of [known, '+393330000000']) {
      for (const window of [whole, summed]) count(window, to, at)
      expect(trafficOf(summed, instance, at)).toEqual(trafficOf(whole, instance, at))
    }
  }

  // As the gateway marks them: the first message to a number, if to a stranger. A window of two days tells those of the last day apart.
  await sql(databaseUrl).query(
    `update messages m set cold = right(peer, 1) in ('1', '2', '3') and not exists (
       select from messages e where e.peer = m.peer and e.direction = 'outbound' and coalesce(e."handedAt", e."acceptedAt", e."dueAt") < coalesce(m."handedAt", m."acceptedAt", m."dueAt"))`,
  )
  const at = new Date(now - 3_600_000)
  const summed = trafficOf(await readWindow(app, app.pool, id, at, []), instance, at)
  expect(summed.coldRecipients24h).toBeGreaterThan(0)
  const days = await readWholeWindow(app, app.pool, id, new Date(at.getTime() - 20 * 3_600_000), at)
  expect(trafficOf(days, instance, at)).toEqual(summed)
})

it('reads one window for all messages that are scheduled for one day', async () => {
  const databaseUrl = await cloneDatabase()
  const { id: instanceId } = await connectedInstance(databaseUrl, await createAccount(databaseUrl))
  const app = await openApp(databaseUrl)
  const spy = vi.spyOn(app.pool, 'query')
  const midnight = Date.UTC(new Date().getUTCFullYear() + 1, 0)
  const minutes = Array.from({ length: 1_440 }, (_, n) => new Date(midnight + n * 60_000))
  await safetyCache(app).load(minutes.map((scheduledAt, n) => ({ instanceId, to: `+39333${1_000_000 + n}`, scheduledAt })))
  const reads = spy.mock.calls.map(([query]) => query as unknown as { name?: string; values: unknown[][] })
  spy.mockRestore()
  expect(reads.filter(({ name }) => name === 'messages.traffic').map(({ values }) => values[1])).toEqual([[instanceId]])
})

it('judges a message by all traffic although another was cancelled after the traffic was read', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const { id } = await connectedInstance(databaseUrl, account, { ageDays: 0 })
  const to = '+393331234567'
  await sql(databaseUrl).query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", direction, type, "to", peer, body, status, safety, cold, "handedAt", "dueAt", "createdAt")
     select gen_random_uuid(), $1, $2, $3, 'outbound', 'text', $4, $4, 'hello', 'sent', '{}', i = 1, now(), now(), now() from generate_series(1, 12) i`,
    [account.workspaceId, account.userId, id, to],
  )
  const cache = safetyCache(await openApp(databaseUrl))
  const standing = {
    id,
    firstConnectedAt: new Date(),
    restrictedAt: null,
    atRiskAt: null,
    dailyRecipients: null,
    disconnections: [],
  }
  const judge = () => cache.judge(standing, { to }, new Date())
  const judged = { warnings: expect.arrayContaining(['hourlyOutboundCap exceeded: 13 of 10']), cold: false }
  await cache.load([{ instanceId: id, to }])
  cache.forget(id)
  expect(judge()).toMatchObject(judged)
  // The next message is judged by what is stored, where the one before is not.
  await cache.load([{ instanceId: id, to }])
  expect(judge()).toMatchObject(judged)
})

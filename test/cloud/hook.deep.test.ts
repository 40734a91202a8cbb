// Proves that Meta's webhook answers in time: 200 posts a second of one status each, from one number.
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { expect, it } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { measuredAgain } from '../kit/measured.ts'
import { openStandIn } from './stand-in.ts'
import { envelope, sign } from './stand-in-hooks.ts'

const perSecond = 200
const seconds = 10

it('answers 200 posts a second within 250 ms of a quiet machine, all but the slowest hundredth, and applies them all', {
  ...measuredAgain,
  timeout: 120_000,
}, async () => {
  const databaseUrl = await cloneDatabase()
  const standIn = await openStandIn()
  const account = await createAccount(databaseUrl)
  const gateway = await startGateway({ databaseUrl, env: { CLOUD_API_URL: standIn.url } })
  const number = standIn.addNumber()
  const settings = standIn.settingsOf(number)
  const { body } = await api(gateway, account.apiKey).post('instances', { name: 'Shop', provider: 'cloud', settings })
  const { rows } = await sql(databaseUrl).query<{ wamid: string }>(
    `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, status, safety, "providerMessageId", "acceptedAt")
     select gen_random_uuid(), i."workspaceId", i."userId", i.id, 'text', '+39333' || n, '+39333' || n, 'hello', 'sending', '{}', 'wamid.' || n, now()
     from instances i, generate_series(1000001, 1000000 + $2::int) n where i.id = $1 returning "providerMessageId" as wamid`,
    [body.data.id, perSecond * seconds],
  )
  await sql(databaseUrl).query('create table bare (id bigserial)')
  // Connections are kept alive, as by the proxy in front of a gateway.
  const pool = new Pool(gateway.url, { connections: 32 })
  atEnd('test', async () => await pool.destroy())
  const posts = rows.map(({ wamid }) => {
    const status = { id: wamid, status: 'delivered', timestamp: String(Math.floor(Date.now() / 1000)), recipient_id: '39333' }
    const text = JSON.stringify(envelope([{ number, statuses: [status] }]))
    return { text, headers: { 'x-hub-signature-256': sign(text, number.appSecret), 'content-type': 'application/json' } }
  })
  const begun = performance.now()
  const tookMs: { post: number; bare: number }[] = await Promise.all(
    posts.map(async ({ text, headers }, i) => {
      const dueAt = begun + (i * 1_000) / perSecond
      await pause(Math.max(1, dueAt - performance.now()))
      // At the same moment, and with the same delays of this machine: an answer without work, and one commit.
      const bare = Promise.all([
        pool.request({ method: 'GET', path: '/livez' }).then(({ body }) => body.dump()),
        sql(databaseUrl).query('insert into bare default values'),
      ]).then(() => performance.now() - dueAt)
      const response = await pool.request({ method: 'POST', path: `/providers/cloud/${body.data.id}`, body: text, headers })
      await response.body.dump()
      expect(response.statusCode).toBe(200)
      return { post: performance.now() - dueAt, bare: await bare }
    }),
  )
  const at = (of: 'post' | 'bare', share: number) => {
    const sorted = tookMs.map((took) => took[of]).toSorted((a, b) => a - b)
    return Math.round(sorted[Math.floor(sorted.length * share)] as number)
  }
  const [p99, bare] = [at('post', 0.99), at('bare', 0.99)]
  console.log(
    `webhook: ${perSecond} posts/s of 1 status: p50 ${at('post', 0.5)} ms, p99 ${p99} ms; an empty answer and a bare commit beside it: p99 ${bare} ms`,
  )
  const delivered = await sql(databaseUrl).query(`select count(*)::int as n from messages where status = 'delivered'`)
  expect(delivered.rows[0].n).toBe(posts.length)
  expect(p99).toBeLessThan(250 + bare)
})

// Proves that a redelivery of many goes on after its process was killed within a chunk: every delivery once, none left out.
import { expect, it } from 'vitest'
import { openSse } from '../events/sse.ts'
import { createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'
import { openReceiver } from './receiver.ts'

interface Outcome {
  attempts: number
  status: string
  error: string | null
  n: number
}

it('a killed process leaves no delivery out and repeats none, and its progress is followed', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const receiver = await openReceiver()
  const first = await startGateway({ databaseUrl, env: { FAILPOINT: 'redeliver.mid_chunk:2=kill' } })
  const { data } = (await api(first, account.apiKey).post('webhooks', { url: receiver.url, events: ['message.sent'] })).body
  await sql(databaseUrl).query(
    `with added as (
       insert into events (seq, id, "workspaceId", type, payload, "createdAt")
       select 9000000 + n, gen_random_uuid(), $2, 'message.sent', '{}', now() from generate_series(1, 1500) n returning seq, id
     )
     insert into webhook_deliveries (id, "endpointId", "eventSeq", "eventId", type, status, attempts, "attemptsLeft")
     select gen_random_uuid(), $1, seq, id, 'message.sent', 'failed', 5, 0 from added`,
    [data.id, account.workspaceId],
  )
  const start = 'mutation ($id: ID!) { redeliverAll(webhookId: $id) { id } }'
  const { id } = (await api(first, account.apiKey).graphql(start, { id: data.id })).body.data.redeliverAll
  expect(await first.exited).toMatchObject({ signal: 'SIGKILL' })
  const second = await startGateway({ databaseUrl })
  const stream = await openSse(new URL('/graphql', second.url), {
    headers: { 'x-api-key': account.apiKey },
    body: {
      query: 'subscription ($id: ID!) { webhookRedelivery(id: $id) { status requestedCount processedCount progress } }',
      variables: { id },
    },
  })
  const states = () =>
    stream.events.flatMap(({ event, data }) => (event === 'next' ? [JSON.parse(data ?? '').data.webhookRedelivery] : []))
  const last = await until(() => states().find(({ status }) => status === 'done'), { everyMs: 100, timeoutMs: 60_000 })
  expect(last).toEqual({ status: 'done', requestedCount: 1_500, processedCount: 1_500, progress: 100 })
  const outcomes = `select attempts, status, error, count(*)::int as n from webhook_deliveries where "nextAttemptAt" is null group by 1, 2, 3`
  const rows = await until(async () => {
    const { rows } = await sql(databaseUrl).query<Outcome>(outcomes)
    return rows.reduce((sum, { n }) => sum + n, 0) === 1_500 ? rows : null
  })
  // Each had one more attempt. One that the killed process had under way is reported as interrupted.
  expect(rows.map(({ attempts }) => attempts)).toEqual(rows.map(() => 6))
  expect(rows.filter(({ status, error }) => status !== 'delivered' && error !== 'interrupted')).toEqual([])
  expect(rows.find(({ status }) => status === 'delivered')?.n).toBeGreaterThan(0)
})

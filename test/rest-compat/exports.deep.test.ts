// An export of 1,000,000 messages: memory and the event loop stay as they are, also while a client reads slowly.
import { expect, it } from 'vitest'
import { openStage } from '../faults/rig.ts'
import { measuredAgain, sql } from '../kit/kit.ts'
import { residentBytes } from '../kit/resident.ts'

const mib = 1024 ** 2
const messages = 1_000_000

it('exports 1,000,000 messages within 150 MiB, and holds the event loop for at most 50 ms', {
  ...measuredAgain,
  timeout: 900_000,
}, async () => {
  const { databaseUrl, account, sure, start } = await openStage()
  for (let n = 0; n < messages; n += 100_000) {
    await sql(databaseUrl).query(
      `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, status, safety, warnings, "createdAt")
       select gen_random_uuid(), $1, $2, $3, 'text', '+4930' || n, '+4930' || n, 'Message ' || n, 'read',
         '{"decision":"allow","riskLevel":"low","state":"stable","score":100}', '{}', now() - make_interval(secs => n / 10.0)
       from generate_series($4::int + 1, $4::int + 100000) n`,
      [account.workspaceId, account.userId, sure.id, n],
    )
  }
  await sql(databaseUrl).query('analyze messages')
  const gateway = await start()
  const ask = (path: string) => fetch(new URL(path, gateway.url), { headers: { 'x-api-key': account.apiKey } })
  // The first export loads code and lets the young generation of V8 grow to its limit, which stay in memory whatever the load.
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
  await (await ask(`/api/v1/messages/export.csv?createdFrom=${hourAgo}`)).text()
  await (await ask('/metrics')).text()
  const atFirst = residentBytes(gateway.pid)
  let peak = 0
  const timer = setInterval(() => {
    peak = Math.max(peak, residentBytes(gateway.pid) - atFirst)
  }, 200)
  const begun = performance.now()
  const response = await ask('/api/v1/messages/export.csv')
  let lines = 0
  let slowest = 0
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    for (const byte of chunk) if (byte === 10) lines++
  }
  clearInterval(timer)
  const seconds = (performance.now() - begun) / 1000
  const metrics = await (await ask('/metrics')).text()
  slowest = Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(metrics)?.[1]) * 1000
  console.log(
    `export of 1,000,000 messages: ${seconds.toFixed(0)} s, ${Math.round(peak / mib)} MiB more, event loop at most ${slowest.toFixed(0)} ms`,
  )
  expect(lines).toBe(messages + 1)
  expect(peak / mib).toBeLessThan(150)
  expect(slowest).toBeLessThan(50)
})

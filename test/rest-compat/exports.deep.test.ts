// An export of 1,000,000 messages: memory and the event loop stay as they are.
import { expect, it } from 'vitest'
import { openStage } from '../faults/rig.ts'
import { sql } from '../kit/database.ts'
import { holdingsOf, inspectable } from '../kit/holdings.ts'
import { measuredAgain } from '../kit/measured.ts'
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
  const gateway = await start(inspectable)
  const ask = (path: string) => fetch(new URL(path, gateway.url), { headers: { 'x-api-key': account.apiKey } })
  await ask('/api/v1/usage')
  const idle = residentBytes(gateway.pid)
  // Loads the code of exports.
  const minuteAgo = new Date(Date.now() - 60_000).toISOString()
  await (await ask(`/api/v1/messages/export.csv?createdFrom=${minuteAgo}`)).text()
  await holdingsOf(gateway)
  let peak = 0
  const timer = setInterval(() => {
    peak = Math.max(peak, residentBytes(gateway.pid) - idle)
  }, 200)
  const begun = performance.now()
  const response = await ask('/api/v1/messages/export.csv')
  let lines = 0
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    for (const byte of chunk) if (byte === 10) lines++
  }
  clearInterval(timer)
  const seconds = (performance.now() - begun) / 1000
  const { heldMs } = await holdingsOf(gateway)
  console.log(
    `export of 1,000,000 messages: ${seconds.toFixed(0)} s, ${Math.round(peak / mib)} MiB above idle, the loop was held ${heldMs.toFixed(0)} ms at most`,
  )
  expect(lines).toBe(messages + 1)
  expect(peak / mib).toBeLessThan(150)
  expect(heldMs).toBeLessThan(50)
})

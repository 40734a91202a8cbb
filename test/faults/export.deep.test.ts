// An export whose process is killed ends as an error for its reader, and not as a shorter file.
import { expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { openStage } from './rig.ts'

const messages = 3_000

it('breaks off after kill -9, so that no reader takes it for complete, and is complete from another process', {
  timeout: 120_000,
}, async () => {
  const { databaseUrl, account, sure, start } = await openStage()
  // More than the buffers between two processes hold, so that the reader cannot have it all when the process dies.
  await sql(databaseUrl).query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, status, safety)
     select gen_random_uuid(), $1, $2, $3, 'text', '+4915112345001', '+4915112345001', repeat('x', 10000), 'read',
       '{"decision":"allow","riskLevel":"low","state":"stable","score":100}' from generate_series(1, ${messages})`,
    [account.workspaceId, account.userId, sure.id],
  )
  const ask = async ({ url }: { url: string }) => {
    const headers = { 'x-api-key': account.apiKey }
    const { status, body } = await fetch(new URL('/api/v1/messages/export.csv', url), { headers })
    expect(status).toBe(200)
    return body as ReadableStream<Uint8Array>
  }
  const doomed = await start()
  const reader = (await ask(doomed)).getReader()
  expect((await reader.read()).done).toBe(false)
  doomed.kill('SIGKILL')
  await doomed.exited
  const readOn = async () => {
    while (!(await reader.read()).done);
  }
  await expect(readOn()).rejects.toThrow()
  let lines = 0
  for await (const chunk of await ask(await start())) for (const byte of chunk) if (byte === 10) lines++
  expect(lines).toBe(messages + 1)
})

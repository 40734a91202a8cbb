// The first send through an instance that wrote to 200,000 recipients within a day does not wait for its traffic to be read.
import { expect, it } from 'vitest'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'

it('answers the first send through an instance with 200,000 recipients a day in a few times what reading the rows takes', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const instance = await connectedInstance(databaseUrl, account)
  await sql(databaseUrl).query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, status, safety, cold, "dueAt", "createdAt",
       "handedAt", "acceptedAt", "sentAt")
     select gen_random_uuid(), $1, $2, $3, 'text', p.peer, p.peer, 'hello', 'read', '{}', i % 2 = 0, p.at, p.at, p.at, p.at, p.at
     from generate_series(1, 200000) i, lateral (select '+3933' || 10000000 + i as peer, now() - i * interval '0.4 seconds' as at) p`,
    [account.workspaceId, account.userId, instance.id],
  )
  await sql(databaseUrl).query('analyze messages')
  const client = api(await openGateway({ databaseUrl }), account.apiKey)
  await client.get('usage')
  const start = performance.now()
  await sql(databaseUrl).query('select peer, cold, status, "handedAt" from messages where "instanceId" = $1', [instance.id])
  const readingMs = Math.round(performance.now() - start)
  const times: number[] = []
  for (let i = 0; i < 3; i++) {
    const begin = performance.now()
    const { status, body } = await client.post('messages/send', {
      instanceId: instance.id,
      to: `+39333999${1000 + i}`,
      type: 'text',
      text: 'hello',
    })
    times.push(Math.round(performance.now() - begin))
    expect(status).toBe(201)
    expect(body.data.warnings).toContain(`dailyUniqueRecipientsCap exceeded: ${200_001 + i} of 50`)
  }
  console.log(
    `first sends through an instance with 200,000 recipients a day: ${times.join(', ')} ms; reading the rows took ${readingMs} ms`,
  )
  expect(times[0]).toBeLessThan(5 * readingMs)
})

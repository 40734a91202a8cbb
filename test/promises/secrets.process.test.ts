// Proves that logs never contain keys, secrets, message texts or whole phone numbers, on success or failure.
import { expect, it } from 'vitest'
import { revokeApiKey } from '../../src/accounts/keys/api-keys.ts'
import { prisma, sql } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'
import { newTenant, openProcessRig, text } from '../rest-compat/rig.ts'

it('writes no key, secret, message text or phone number into a log', async () => {
  const rig = await openProcessRig({ LOG_LEVEL: 'trace', WEBHOOK_RETRY_BASE_SECONDS: '0.01' })
  const env = { LOG_LEVEL: 'trace', RATE_LIMIT_PER_SECOND: '100000', FAILPOINT: 'api.after_commit_before_reply=throw' }
  const failing = await startGateway({ databaseUrl: rig.databaseUrl, env })
  const { tenant } = rig
  const marks = {
    text: 'the very secret text',
    to: '+4915199887766',
    key: tenant.account.apiKey,
    idempotency: 'the-idempotency-key',
  }
  const hook = await tenant.api.post('webhooks', {
    url: 'http://127.0.0.1:9/?token=hook-token',
    events: ['message.sent', 'message.failed'],
  })

  for (const gateway of [rig.gateway, failing]) {
    const headers = {
      'x-api-key': marks.key,
      'content-type': 'application/json',
      'idempotency-key': `${marks.idempotency}-${gateway.pid}`,
    }
    const send = (fields: Record<string, unknown>) =>
      fetch(`${gateway.url}/api/v1/messages/send`, { method: 'POST', headers, body: JSON.stringify(text(tenant, fields)) })
    const sent = await send({ text: marks.text, to: marks.to })
    expect(sent.status).toBe(gateway === failing ? 500 : 201)
    await fetch(`${gateway.url}/api/v1/messages/send`, { method: 'POST', headers, body: `{"text":"${marks.text}` })
    await fetch(`${gateway.url}/api/v1/messages?to=${encodeURIComponent(marks.to)}&limit=0`, { headers })
    await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query: `{ history(phone: "${marks.to}") { nodes { body } } nonsense }` }),
    })
    await fetch(`${gateway.url}/api/v1/me`, {
      headers: { 'x-api-key': `${marks.key.slice(0, -1)}x`, authorization: `Bearer ${marks.key}` },
    })
  }
  // The error of a failing statement contains values of its row.
  const other = await newTenant(rig.gateway, rig.databaseUrl)
  await sql(rig.databaseUrl).query(
    `alter table messages add constraint no_more check (body <> 'refused by the database') not valid`,
  )
  const broken = await other.api.post('messages/send', text(other, { text: 'refused by the database', to: marks.to }))
  expect([broken.status, broken.body]).toEqual([
    500,
    { error: { code: 'INTERNAL_ERROR', message: 'Something went wrong on our side' } },
  ])
  const { rows } = await sql(rig.databaseUrl).query('select id from api_keys where "userId" = $1', [other.account.userId])
  await revokeApiKey(prisma(rig.databaseUrl), rows[0]?.id as string)
  await other.api.get('me')
  await until(async () => {
    const { body } = await tenant.api.get(`webhooks/${hook.body.data.id}/deliveries`)
    return (
      body.data.deliveries.length > 0 && body.data.deliveries.every((delivery: { attempts: number }) => delivery.attempts > 0)
    )
  })

  const logs = [...rig.gateway.logs, ...failing.logs, ...(await stopped([rig.gateway, failing]))].join('\n')
  expect(logs).toContain('unforeseen error')
  const { secret } = hook.body.data
  const never = [
    marks.text,
    marks.to.slice(1),
    marks.key,
    marks.key.slice(9),
    other.account.apiKey.slice(9),
    secret,
    secret.slice(6),
    marks.idempotency,
    'refused by the database',
    'hook-token',
  ]
  for (const mark of never) expect(logs.includes(mark) ? logs.split('\n').find((line) => line.includes(mark)) : null).toBeNull()
  for (const line of logs.split('\n')) if (!line.startsWith('gateway ready')) expect(() => JSON.parse(line)).not.toThrow()
})

async function stopped(gateways: { stop: () => Promise<unknown>; logs: string[] }[]): Promise<string[]> {
  await Promise.all(gateways.map((gateway) => gateway.stop()))
  return gateways.flatMap((gateway) => gateway.logs)
}

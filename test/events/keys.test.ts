// Limits of API keys at the endpoints of live events: fifty streams at a time, and none once the key is revoked.
import { expect, it } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { graphqlUrl, openGraphql, openLiveRig, openPlain, openStreams, plainUrl, singleUrl, subscription } from './live-rig.ts'
import { openSse } from './sse.ts'

it('allows fifty streams of one key, refuses the next, and accepts another when one ends', async () => {
  const live = await openLiveRig()
  const streams = await Promise.all(Array.from({ length: 50 }, () => openPlain(live)))
  expect(streams.every(({ status }) => status === 200)).toBe(true)
  const refused = await openPlain(live)
  await until(() => refused.ended)
  expect(refused.status).toBe(429)
  expect(refused.headers['retry-after']).toBe('1')
  expect(JSON.parse(refused.text).error.code).toBe('API_RATE_LIMIT_EXCEEDED')
  expect((await openGraphql(live)).status).toBe(429)
  const other = { 'x-api-key': (await createAccount(live.databaseUrl)).apiKey }
  expect((await openSse(graphqlUrl(live), { headers: other, body: { query: subscription } })).status).toBe(200)
  streams[0]?.close()
  await until(async () => (await openPlain(live)).status === 200)
})

it('ends the streams of a revoked key within 5 s at every endpoint, with an error that clients understand', async () => {
  const live = await openLiveRig()
  const { account, databaseUrl, key } = live
  const plain = await openPlain(live)
  const distinct = await openGraphql(live)
  const url = singleUrl(live)
  const token = await (await fetch(url, { method: 'PUT', headers: key })).text()
  url.searchParams.set('token', token)
  const single = await openSse(url)
  const accepted = await fetch(url, {
    method: 'POST',
    headers: { ...key, 'content-type': 'application/json' },
    body: JSON.stringify({ query: subscription, extensions: { operationId: 'a' } }),
  })
  expect(accepted.status).toBe(202)
  const other = await createAccount(databaseUrl)
  const bystander = await openSse(plainUrl(live), { headers: { 'x-api-key': other.apiKey } })

  await sql(databaseUrl).query(`update api_keys set "revokedAt" = now() where "userId" = $1`, [account.userId])
  await until(() => plain.ended && distinct.ended && single.ended, { timeoutMs: 5_000 })
  expect(bystander.ended).toBe(false)
  const error = { message: 'Missing or invalid API key', extensions: { code: 'UNAUTHORIZED' } }
  expect(plain.events).toMatchObject([{ event: 'end' }])
  expect(JSON.parse(plain.events[0]?.data ?? '')).toEqual({ error: { code: 'UNAUTHORIZED', message: error.message } })
  expect(distinct.events.map(({ event }) => event)).toEqual(['next', 'complete'])
  expect(JSON.parse(distinct.events[0]?.data ?? '')).toEqual({ errors: [error] })
  expect(single.events.map(({ event }) => event)).toEqual(['next', 'complete'])
  expect(JSON.parse(single.events[0]?.data ?? '')).toEqual({ id: 'a', payload: { errors: [error] } })
  expect((await openPlain(live)).status).toBe(401)
  await openStreams(live, 1)
})

// Rate limit of webhook tests, needed because each test is a request to whatever address the endpoint names.
import { expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { openRig } from '../rest-compat/rig.ts'

it('an endpoint can be tested ten times a minute in total, over REST and GraphQL', async () => {
  const { tenant, databaseUrl } = await openRig()
  const made = await tenant.api.post('webhooks', { url: 'http://127.0.0.1:9/', events: ['message.sent'] })
  const { id } = made.body.data
  const other = await tenant.api.post('webhooks', { url: 'http://127.0.0.1:9/', events: ['message.sent'] })
  const document = 'mutation ($id: ID!) { testWebhook(id: $id) { id } }'
  const rest = await Promise.all(Array.from({ length: 12 }, () => tenant.api.post(`webhooks/${id}/test`)))
  expect(rest.filter(({ status }) => status === 200)).toHaveLength(10)
  const refused = rest.filter(({ status }) => status === 429)
  expect(refused.map(({ body }) => body.error.code)).toEqual(Array(2).fill('API_RATE_LIMIT_EXCEEDED'))
  const seconds = Number(refused[0]?.headers.get('retry-after'))
  expect(seconds > 0 && seconds <= 60).toBe(true)
  const { body } = await tenant.api.graphql(document, { id })
  expect(body.errors[0].extensions.code).toBe('API_RATE_LIMIT_EXCEEDED')
  expect((await tenant.api.post(`webhooks/${other.body.data.id}/test`)).status).toBe(200)
  await sql(databaseUrl).query(
    `update webhook_deliveries set "createdAt" = "createdAt" - interval '1 minute' where "endpointId" = $1`,
    [id],
  )
  expect((await tenant.api.graphql(document, { id })).body.errors).toBeUndefined()
})

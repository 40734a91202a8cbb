// Proves that delivered and streamed events match the document: every type, real and test, with its signature headers.
import { expect, it } from 'vitest'
import { eventDefinitions } from '../../src/event-types.ts'
import { openSse } from '../events/sse.ts'
import { apiDocument, expectPayload } from '../kit/document.ts'
import { until } from '../kit/until.ts'
import { openRig, text } from '../rest-compat/rig.ts'
import { openReceiver } from '../webhooks/receiver.ts'

const eventTypes = eventDefinitions.map(({ type }) => type)

it('delivers and streams each type of event as documented', async () => {
  const { gateway, tenant } = await openRig()
  const receiver = await openReceiver()
  const { data: endpoint } = (await tenant.api.post('webhooks', { url: receiver.url, events: eventTypes })).body
  const headers = { 'x-api-key': tenant.account.apiKey }
  const stream = await openSse(`${gateway.url}/api/v1/events/stream`, { headers })
  // One message is read, one is answered and one fails; then the phone disconnects and reconnects.
  for (const to of ['+4915112345678', '+4915112340006', '+4915112340002'])
    await tenant.api.post('messages/send', text(tenant, { to }))
  await until(() => new Set(stream.events.map(({ event }) => event)).size === 5)
  await tenant.api.post(`instances/${tenant.instance.id}/logout`)
  await tenant.api.post(`instances/${tenant.instance.id}/connect`)
  await tenant.api.post(`webhooks/${endpoint.id}/test`)

  const outcome = () => new Set(receiver.requests.map((request) => request.headers['x-service-event']))
  await until(() => outcome().size === eventTypes.length && receiver.requests.some(({ body }) => body.includes('"test":true')))
  const signed = apiDocument().webhooks as Record<string, { post: { parameters: { name: string; required: boolean }[] } }>
  for (const { headers: given, body } of receiver.requests) {
    const event = given['x-service-event'] as string
    expectPayload(event, JSON.parse(body))
    expectDefined(event, JSON.parse(body))
    const headers = signed[event]?.post.parameters.filter(({ required }) => required) ?? []
    expect(headers.length).toBeGreaterThan(3)
    for (const { name } of headers) expect(given, event).toHaveProperty(name.toLowerCase())
  }
  await until(() => new Set(stream.events.map(({ event }) => event)).size === eventTypes.length)
  for (const { event, data } of stream.events) {
    expectPayload(event as string, JSON.parse(data as string))
    expectDefined(event as string, JSON.parse(data as string))
  }
})

/** Expects exactly the fields of the definition, besides those that all events have. */
function expectDefined(
  event: string,
  { id: _, event: __, test: ___, timestamp: ____, ...fields }: Record<string, unknown>,
): void {
  const definition = eventDefinitions.find(({ type }) => type === event)
  expect(definition?.payload.strict().safeParse(fields), event).toMatchObject({ success: true })
}

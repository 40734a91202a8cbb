// Proves Idempotency-Key in GraphQL: a repeated mutation is answered again and not executed again, over every transport.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { type Api, api } from '../kit/api.ts'
import { openPair, type Pair } from '../rest-compat/idempotency-rig.ts'
import { countOf, expectRefusal, nobody, text } from '../rest-compat/rig.ts'

let { rig, second, asleep } = {} as Pair

beforeAll(async () => {
  ;({ rig, second, asleep } = await openPair())
})

const send = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { id createdAt } }'
const asked = (client: Api, input: object, headers?: Record<string, string>) => client.graphql(send, { input }, headers)

it.each(['header', 'input'])('is accepted in the %s', async (by) => {
  const [key, message] = [randomUUID(), text(asleep)]
  const input = by === 'input' ? { ...message, idempotencyKey: key } : message
  const headers = by === 'header' ? { 'idempotency-key': key } : undefined
  const elsewhere = api(second, asleep.account.apiKey)
  const first = await asked(asleep.api, input, headers)
  expect(first.body.data.sendMessage.id).toEqual(expect.any(String))
  expect((await asked(elsewhere, input, headers)).body).toEqual(first.body)
  const other = await asked(asleep.api, { ...input, text: 'Other' }, headers)
  expect(other.body.errors[0].extensions.code).toBe('IDEMPOTENCY_KEY_REUSED')
  expectRefusal(await rig.tenant.api.post('messages/send', message, { 'idempotency-key': key }), 422, 'IDEMPOTENCY_KEY_REUSED')
})

it('applies to streamed answers, however the stream is requested', async () => {
  const body = JSON.stringify({ query: send, variables: { input: text(asleep) } })
  const key = { 'x-api-key': asleep.account.apiKey, 'content-type': 'application/json', 'idempotency-key': randomUUID() }
  const before = await countOf(rig, 'messages')
  const answers = []
  for (const accept of ['text/event-stream', 'text/event-stream', 'application/json']) {
    const answer = await fetch(`${rig.gateway.url}/graphql`, { method: 'POST', headers: { ...key, accept }, body })
    const id = (await answer.text()).match(/"id":"([^"]+)"/)?.[1]
    answers.push([id, answer.headers.get('idempotency-replayed')])
  }
  const id = answers[0]?.[0]
  expect(answers).toEqual([
    [expect.any(String), null],
    [id, 'true'],
    [id, 'true'],
  ])
  expect(await countOf(rig, 'messages')).toBe(before + 1)
})

it('applies in single connection mode, under any operation id', async () => {
  const url = `${rig.gateway.url}/graphql/stream`
  const key = { 'x-api-key': asleep.account.apiKey }
  const token = await (await fetch(url, { method: 'PUT', headers: key })).text()
  const stop = new AbortController()
  const ticket = { 'x-graphql-event-stream-token': token }
  await fetch(url, { headers: { ...ticket, accept: 'text/event-stream' }, signal: stop.signal })
  const headers = { ...key, ...ticket, 'content-type': 'application/json', 'idempotency-key': randomUUID() }
  const variables = { input: text(asleep) }
  const before = await countOf(rig, 'messages')
  const answers = []
  for (const operationId of ['a', 'b']) {
    const body = JSON.stringify({ query: send, variables, extensions: { operationId } })
    const answer = await fetch(url, { method: 'POST', headers, body })
    answers.push([answer.status, answer.headers.get('idempotency-replayed')])
  }
  expect(answers).toEqual([
    [202, null],
    [202, 'true'],
  ])
  expect(await countOf(rig, 'messages')).toBe(before + 1)
  stop.abort()
})

it('applies to a refusal too', async () => {
  const input = { ...text(asleep, { instanceId: nobody }), idempotencyKey: randomUUID() }
  const codes = async (fields = {}) => (await asked(asleep.api, { ...input, ...fields })).body.errors[0].extensions.code
  expect([await codes(), await codes(), await codes({ instanceId: asleep.instance.id })]).toEqual([
    'NOT_FOUND',
    'NOT_FOUND',
    'IDEMPOTENCY_KEY_REUSED',
  ])
})

// GraphQL over SSE with one operation per connection, tested with the client of graphql-sse.
import { type Client, createClient } from 'graphql-sse'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { emit } from '../../src/events/log/emit.ts'
import { api } from '../kit/api.ts'
import { atEnd } from '../kit/at-end.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { foreignInstance, graphqlNumbers, graphqlUrl, happen, type LiveRig, openLiveRig, openStreams } from './live-rig.ts'
import { newEvent, upTo } from './rig.ts'
import { openSse } from './sse.ts'

let live: LiveRig

beforeAll(async () => {
  live = await openLiveRig()
})
beforeEach(() => openStreams(live, 0))

function open(): Client {
  const client = createClient({ url: graphqlUrl(live).href, headers: live.key, retryAttempts: 0 })
  atEnd('test', async () => client.dispose())
  return client
}

/** Runs one operation to its end and returns all its results. */
async function resultsOf(query: string, variables?: Record<string, unknown>) {
  const results = []
  for await (const result of open().iterate({ query, variables })) results.push(result)
  return results
}

it('delivers events to a subscription, with the objects that each event refers to', async () => {
  const { databaseUrl, place } = live
  const query = `subscription ($types: [EventType!]) {
    events(types: $types) { id type cursor createdAt payload message { id } instance { id name } }
  }`
  const results = open().iterate<{ events: Record<string, unknown> }>({ query, variables: { types: ['message_sent'] } })
  const first = results.next()
  await openStreams(live, 1)
  await emit(sql(databaseUrl), [newEvent(place, 1, 'message.read'), newEvent(place, 2)])
  const { value } = await first
  const { rows } = await sql(databaseUrl).query('select id, payload from events order by seq desc limit 1')
  expect(value.errors).toBeUndefined()
  expect(value.data?.events).toMatchObject({
    id: rows[0]?.id,
    type: 'message_sent',
    payload: rows[0]?.payload,
    message: null,
    instance: { id: place.instanceId, name: 'Phone' },
  })
  await results.return?.(undefined)
})

it('answers queries and mutations with one result', async () => {
  const data = { instances: expect.arrayContaining([{ id: live.place.instanceId }]) }
  expect(await resultsOf('{ instances { id } }')).toEqual([{ data }])
})

it.each([
  ['a syntax error', 'subscription {', /Syntax Error/],
  ['an unknown field', 'subscription { nothing }', /Cannot query field/],
  ['two root fields', 'subscription { events { id } more: events { id } }', /must select only one top level field/],
  ['no such operation', 'query A { instances { id } } query B { instances { id } }', /^operationName: /],
  ['a bad cursor', 'subscription { events(after: "x") { id } }', /^after: is not an event cursor$/],
  ['no kinds', 'subscription { events(types: []) { id } }', /^types: must have at least 1 item$/],
  ['a malformed id', 'subscription { events(messageId: "x") { id } }', /^messageId: must be a UUID$/],
])('reports %s on the stream', async (_, query, message) => {
  const results = await resultsOf(query)
  expect(results).toHaveLength(1)
  expect(results[0]?.errors?.[0]?.message).toMatch(message)
  expect(results[0]?.errors?.[0]?.extensions?.code).toBe('VALIDATION_ERROR')
})

it('answers NOT_FOUND alike for an id of another workspace and for an id that does not exist', async () => {
  const answers: string[] = []
  for (const id of [await foreignInstance(live), newId()]) {
    const events = await resultsOf(`subscription { events(instanceId: "${id}") { id } }`)
    const state = await resultsOf(`subscription { instanceState(id: "${id}") { status } }`)
    for (const { errors } of [...events, ...state]) answers.push(JSON.stringify(errors).replace('instanceState', 'events'))
  }
  expect(answers).toHaveLength(4)
  expect(answers[0]).toContain('NOT_FOUND')
  expect(new Set(answers).size).toBe(1)
})

it('names the variable that has an invalid value', async () => {
  const query = 'subscription ($types: [EventType!]) { events(types: $types) { id } }'
  const results = await resultsOf(query, { types: ['nope'] })
  expect(results[0]?.errors?.[0]).toMatchObject({
    message: expect.stringMatching(/types/),
    extensions: { code: 'VALIDATION_ERROR' },
  })
})

it('replays the events after a cursor and goes on live, with each reader at its own position', async () => {
  const query = 'subscription ($from: String) { events(after: $from) { cursor payload } }'
  const openFrom = (from?: string) => openSse(graphqlUrl(live), { headers: live.key, body: { query, variables: { from } } })
  const first = await openFrom()
  await happen(live, 250)
  await until(() => first.events.length === 250)
  const replayed = await openFrom(first.events[99]?.id)
  await until(() => replayed.events.length === 150)
  await happen(live, 10, 250)
  await until(() => first.events.length === 260 && replayed.events.length === 160)
  expect(graphqlNumbers(first)).toEqual(upTo(260))
  expect(graphqlNumbers(replayed)).toEqual(upTo(260).slice(100))
  expect(replayed.events.map(({ id }) => id)).toEqual(first.events.slice(100).map(({ id }) => id))
})

it('keeps apart two subscribers that ask for different pages of the object that an event refers to', async () => {
  const { databaseUrl, place, account } = live
  const [contactId, ...messageIds] = [newId(), newId(), newId()]
  await sql(databaseUrl).query(`insert into contacts (id, "workspaceId", name, phone) values ($1, $2, 'Ada', '+393331234500')`, [
    contactId,
    account.workspaceId,
  ])
  await sql(databaseUrl).query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", "contactId", type, "to", peer, body, safety, "createdAt")
     select id, $2, $3, $4, $5, 'text', '+393331234500', '+393331234500', n::text, '{}', now() - make_interval(secs => n)
     from unnest($1::uuid[]) with ordinality as m(id, n)`,
    [messageIds, account.workspaceId, account.userId, place.instanceId, contactId],
  )
  const messages = 'messages(first: 1, after: $page) { nodes { body } pageInfo { endCursor } }'
  const { body } = await api(live.gateway, account.apiKey).graphql(
    `query ($page: String) { contact(id: "${contactId}") { ${messages} } }`,
  )
  const query = `fragment Page on Event { message { contact { ${messages} } } }
    subscription ($page: String, $from: String) { events(after: $from) { ...Page } }`
  const openAt = (page?: string) => openSse(graphqlUrl(live), { headers: live.key, body: { query, variables: { page } } })
  const streams = [await openAt(), await openAt(body.data.contact.messages.pageInfo.endCursor)]
  await emit(sql(databaseUrl), [{ ...newEvent(place, 1), messageId: messageIds[0] as string }])
  await until(() => streams.every(({ events }) => events.length === 1))
  const bodies = streams.map(({ events }) => JSON.parse(events[0]?.data ?? '').data.events.message.contact.messages.nodes)
  expect(bodies).toEqual([[{ body: '1' }], [{ body: '2' }]])
})

it('serves subscriptions by GET with a query string, but refuses mutations by GET', async () => {
  const { databaseUrl, key: headers, place } = live
  const url = graphqlUrl(live)
  url.searchParams.set('query', 'subscription ($t: [EventType!]) { events(types: $t) { payload } }')
  url.searchParams.set('variables', '{"t":["message_read"]}')
  const stream = await openSse(url, { headers })
  await emit(sql(databaseUrl), [newEvent(place, 1), newEvent(place, 2, 'message.read')])
  await until(() => stream.events.length === 1)
  expect(graphqlNumbers(stream)).toEqual([2])
  url.searchParams.set('variables', '{')
  expect(await openSse(url, { headers })).toMatchObject({ status: 400 })
  url.searchParams.set('variables', '')
  url.searchParams.set('query', `mutation { deleteInstance(id: "${place.instanceId}") { id } }`)
  const refused = await openSse(url, { headers })
  expect(refused.status).toBe(405)
  expect(refused.headers.allow).toBe('POST')
})

it('refuses a request without a valid key with the HTTP status 401', async () => {
  const refused = await openSse(graphqlUrl(live), { body: { query: 'subscription { events { id } }' } })
  await until(() => refused.ended)
  expect(refused.status).toBe(401)
  expect(JSON.parse(refused.text)).toEqual({
    errors: [{ message: 'Missing or invalid API key', extensions: { code: 'UNAUTHORIZED' } }],
  })
})

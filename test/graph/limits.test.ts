// Proves that attacks with GraphQL documents are refused at once, over every transport, and that nothing is executed.
import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { promptly } from '../kit/promptly.ts'
import { countOf, nobody, openRig, type Rig, text } from '../rest-compat/rig.ts'
import { attacks, bomb } from './attacks.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
  // The first request of each kind is slow, so it is not measured.
  for (const accept of ['application/json', 'text/event-stream']) await ask({ query: '{ me { id } }' }, accept)
})

async function ask(body: unknown, accept: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${rig.gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'x-api-key': rig.tenant.account.apiKey, 'content-type': 'application/json', accept, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const answer = await response.text()
  return { status: response.status, type: response.headers.get('content-type') ?? '', answer }
}

/** The errors of an answer, in either format. */
function errorsOf({ answer, type }: { answer: string; type: string }): { message: string; extensions: { code: string } }[] {
  const json = type.startsWith('text/event-stream') ? (answer.match(/^data: (.*)$/m)?.[1] ?? '{}') : answer
  return JSON.parse(json).errors
}

describe.each(['application/json', 'application/graphql-response+json', 'text/event-stream'])('as %s', (accept) => {
  it.each(attacks)('refuses %s', async (_, query) => {
    const input = text(rig.tenant)
    const before = await countOf(rig, 'messages')
    const variables = query.includes('$input') ? { input } : undefined
    const answered = await promptly(() => ask({ query, variables }, accept))
    expect([200, 400]).toContain(answered.status)
    const errors = errorsOf(answered)
    expect(errors.length).toBeGreaterThan(0)
    for (const error of errors) {
      expect(error.extensions).toMatchObject({ code: 'VALIDATION_ERROR' })
      expect(error.message).not.toMatch(/stack|RangeError|node_modules|did you mean/i)
    }
    expect(await countOf(rig, 'messages')).toBe(before)
  })
})

describe('a body', () => {
  const json = 'application/json'
  it.each<[string, unknown, number]>([
    ['of one in a batch', [{ query: '{ me { id } }' }], 400],
    ['of a batch of 100', Array(100).fill({ query: '{ me { id } }' }), 400],
    ['that is null', 'null', 400],
    ['that is cut off', '{"query":', 400],
    ['with a byte order mark', '\ufeff{"query":"{ me { id } }"}', 400],
    ['without a query', {}, 400],
    ['with a number as query', { query: 5 }, 400],
    ['with variables that are a text', { query: '{ me { id } }', variables: 'x' }, 400],
    [
      'with variables nested 50,000 deep',
      `{"query":"{ me { id } }","variables":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`,
      400,
    ],
    ['with __proto__', '{"query":"{ me { id } }","variables":{"__proto__":{"polluted":true}}}', 400],
    ['with an unknown persisted document', { extensions: { persistedQuery: { version: 1, sha256Hash: 'ab'.repeat(32) } } }, 400],
  ])('%s is refused', async (_, body, status) => {
    const answered = await promptly(() => ask(body, json))
    expect(answered.status).toBe(status)
    expect(errorsOf(answered)[0]?.extensions).toMatchObject({ code: 'VALIDATION_ERROR' })
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/graphql'])(
    'of type %s is refused',
    async (type) => {
      const answered = await ask('query={me{id}}', json, { 'content-type': type })
      expect([answered.status, errorsOf(answered)[0]?.extensions.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    },
  )

  it('of more than 16 MiB is too large', async () => {
    const answered = await ask({ query: '{ me { id } }', variables: { a: 'x'.repeat(17 * 1024 * 1024) } }, json)
    expect([answered.status, errorsOf(answered)[0]?.extensions.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  })

  it('does not pollute a prototype', async () => {
    const settings = JSON.parse('{"constructor":{"prototype":{"polluted":1}},"toString":"x","hasOwnProperty":1}')
    const document = 'mutation ($input: CreateInstanceInput!) { createInstance(input: $input) { id } }'
    const { body } = await rig.tenant.api.graphql(document, { input: { name: 'x', settings } })
    const { rows } = await sql(rig.databaseUrl).query('select settings from instances where id = $1', [
      body.data.createInstance.id,
    ])
    expect(rows[0]?.settings).toEqual(settings)
    expect((await rig.tenant.api.get('me')).body.data.polluted).toBeUndefined()
  })
})

it('accepts JSON in any spelling of its media type, even if execution fails', async () => {
  const body = { query: `mutation { deleteInstance(id: "${nobody}") { id } }` }
  for (const type of ['APPLICATION/JSON', 'application/json ; charset=utf-8', 'application/json; charset="UTF-8"']) {
    const { status, answer } = await ask(body, 'application/json', { 'content-type': type })
    expect([status, JSON.parse(answer).errors?.[0].extensions]).toEqual([200, { code: 'NOT_FOUND' }])
  }
})

describe('a variable', () => {
  const document = 'query ($id: ID!, $first: Int) { message(id: $id) { id } messages(first: $first) { nodes { id } } }'
  it.each<[string, unknown, string]>([
    ['of the wrong type', { id: {} }, 'id: must be of type ID'],
    ['that is a list', { id: [nobody, nobody] }, 'id: must be of type ID'],
    ['that is missing', {}, 'id: is required'],
    ['that is null', { id: null }, 'id: is required'],
    ['with a fraction', { id: nobody, first: 1.5 }, 'first: must be of type Int'],
    ['past an integer', { id: nobody, first: 1e10 }, 'first: must be of type Int'],
    ['of 1 MB', { id: 'x'.repeat(1_000_000) }, 'id: must be a UUID'],
  ])('%s is refused, and the error names it', async (_, variables, message) => {
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      const answered = await promptly(() => ask({ query: document, variables }, accept))
      expect(errorsOf(answered)[0]).toMatchObject({ message, extensions: { code: 'VALIDATION_ERROR' } })
    }
  })

  it('or an extension that the document does not declare is ignored', async () => {
    const persistedQuery = { version: 1, sha256Hash: 'ab'.repeat(32) }
    const answered = await ask(
      { query: '{ me { id } }', variables: { id: nobody, constructor: 1 }, extensions: { persistedQuery, trace: true } },
      'application/json',
    )
    expect(JSON.parse(answered.answer)).toEqual({ data: { me: { id: rig.tenant.account.userId } } })
  })
})

it('reveals nothing about a failure in a resolver', async () => {
  const mark = 'refused by the database'
  await sql(rig.databaseUrl).query(`alter table messages add constraint no_more check (body <> '${mark}') not valid`)
  const query = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { id } }'
  const { answer } = await ask({ query, variables: { input: text(rig.tenant, { text: mark }) } }, 'application/json')
  const error = { message: 'Something went wrong on our side', path: ['sendMessage'], extensions: { code: 'INTERNAL_ERROR' } }
  expect(JSON.parse(answer)).toEqual({ data: null, errors: [{ ...error, locations: expect.any(Array) }] })
})

it('refuses a body that is nested too deep on a stream as well', async () => {
  const deep = `{"query":"{ me { id } }","variables":{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}}`
  for (const path of ['/graphql', '/graphql/stream']) {
    const { status, body } = await rig.tenant.api.post(path, deep, { accept: 'text/event-stream' })
    expect([status, body.errors[0].message]).toEqual([400, expect.stringMatching(/^body: must not be nested/)])
  }
})

it.each([
  ['', 'query: must be a non-empty string'],
  ['query=', 'query: must be a non-empty string'],
  ['query[]=x', 'query: must be a non-empty string'],
  ['query=x&query=y', 'query: must be a non-empty string'],
  ['query={me{id}}&variables=abc', 'variables: is not valid JSON'],
  ['query={me{id}}&variables={}&variables={}', 'variables: must be given once'],
  ['query={me{id}}&extensions={', 'extensions: is not valid JSON'],
  ['query={me{id}}&variables={"__proto__":{}}', 'variables: must not name __proto__'],
])('refuses "?%s"', async (query, message) => {
  const { status, body } = await rig.tenant.api.get(`/graphql?${query}`, { accept: 'application/graphql-response+json' })
  expect([status, body]).toMatchObject([400, { errors: [{ message, extensions: { code: 'VALIDATION_ERROR' } }] }])
})

it('refuses a mutation by GET, streamed or not, and the methods PUT and DELETE', async () => {
  const url = `/graphql?query=${encodeURIComponent(`mutation { deleteInstance(id: "${nobody}") { id } }`)}`
  const byGet = await rig.tenant.api.get(url)
  expect([byGet.status, byGet.headers.get('allow'), byGet.body.errors[0].extensions.code]).toEqual([
    405,
    'POST',
    'METHOD_NOT_ALLOWED',
  ])
  const stream = await rig.tenant.api.get(url, { accept: 'text/event-stream' })
  expect(stream.status).toBe(405)
  for (const method of ['put', 'delete'] as const) expect((await rig.tenant.api[method]('/graphql', {})).status).toBe(405)
})

it('executes nothing of a refused document in single connection mode either', async () => {
  const { apiKey } = rig.tenant.account
  const at = `${rig.gateway.url}/graphql/stream`
  const token = await (await fetch(at, { method: 'PUT', headers: { 'x-api-key': apiKey } })).text()
  const stop = new AbortController()
  await fetch(at, { headers: { accept: 'text/event-stream', 'x-graphql-event-stream-token': token }, signal: stop.signal })
  for (const query of [bomb, attacks.find(([name]) => name === 'mutations in a fragment')?.[1]]) {
    const headers = { 'x-api-key': apiKey, 'x-graphql-event-stream-token': token, 'content-type': 'application/json' }
    const body = JSON.stringify({ query, extensions: { operationId: String(query?.length) } })
    const answer = await fetch(at, { method: 'POST', headers, body })
    expect([400, 202]).toContain(answer.status)
    if (answer.status === 400) expect((await answer.json()).errors[0].extensions.code).toBe('VALIDATION_ERROR')
  }
  stop.abort()
})

it.each([
  ['application/graphql-response+json;q=0, application/json', 'application/json'],
  ['application/json;q=0.5, application/graphql-response+json', 'application/graphql-response+json'],
  ['application/json, application/graphql-response+json', 'application/json'],
])('answers with the content type that the client prefers: %s', async (accept, type) => {
  const { headers } = await rig.tenant.api.graphql('{ __typename }', undefined, { accept })
  expect(headers.get('content-type')).toBe(`${type}; charset=utf-8`)
})

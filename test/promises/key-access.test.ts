// Keys with less reach: what `send` and `read` may do, over every REST route, every root field of the graph and every stream.
import type { GraphQLObjectType } from 'graphql'
import { print } from 'graphql'
import { beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../rest-compat/routes.ts'
import { createApiKey } from '../../src/accounts/keys/api-keys.ts'
import { accessOfField } from '../../src/http/key-access.ts'
import { schema } from '../../src/schema.ts'
import { type Account, createAccount } from '../kit/accounts.ts'
import { type Answer, type Api, api } from '../kit/api.ts'
import { commons } from '../kit/commons.ts'
import { prisma, sql } from '../kit/database.ts'
import { addressOf, rows } from '../rest-compat/both.ts'

/** The routes of the contract for `send`. */
const toSend = [
  'POST /messages/send',
  'POST /messages/schedule',
  'POST /messages/bulk',
  'POST /messages/:id/cancel',
  'POST /number-lookups',
  'POST /media',
  'GET /media/:id',
  'GET /messages',
  'GET /messages/:id',
  'GET /messages/history',
  'GET /instances',
  'GET /instances/:id',
  'GET /instances/:id/state',
  'GET /instances/:id/health',
  'GET /templates',
  'GET /templates/:id',
  'POST /templates/:id/preview',
]
const sendFields = {
  query: ['history', 'instance', 'instances', 'media', 'message', 'messages', 'previewMessage', 'template', 'templates'],
  mutation: ['cancelMessage', 'lookupNumbers', 'previewTemplate', 'scheduleMessage', 'sendMessage', 'sendMessages'],
  subscription: [],
} as const

const may = {
  send: (method: string, path: string) => toSend.includes(`${method} ${path}`),
  read: (method: string, path: string) => method === 'GET' || path === '/templates/:id/preview',
}
const mayField = {
  send: (operation: keyof typeof sendFields, field: string) => (sendFields[operation] as readonly string[]).includes(field),
  read: (operation: string, field: string) => operation !== 'mutation' || field === 'previewTemplate',
}

const { url, databaseUrl } = commons()
let account: Account
const keys = {} as Record<'send' | 'read', string>
const clients = {} as Record<'send' | 'read', Api>

beforeAll(async () => {
  account = await createAccount(databaseUrl)
  for (const access of ['send', 'read'] as const) {
    keys[access] = (await createApiKey(prisma(databaseUrl), { email: account.email, name: access, access })).key
    clients[access] = api({ url }, keys[access])
  }
})

const params = { id: 'x', groupId: 'x', jobId: 'x', deliveryId: 'x' }
const restCode = ({ body, status }: Answer) => body.error?.code ?? status
const graphCode = ({ body }: Answer) => body.errors?.[0].extensions.code ?? null

describe.each(['send', 'read'] as const)('a key with the access %s', (access) => {
  const fields = (['query', 'mutation', 'subscription'] as const).flatMap((operation) =>
    Object.keys((schema.getRootType(operation as never) as GraphQLObjectType).getFields()).map(
      (name) => [operation, name] as const,
    ),
  )

  it('gets FORBIDDEN from every route beyond it, before its ids and body are looked at, and from no other route', async () => {
    for (const { method, path } of routes.filter(({ surfaces }) => surfaces.includes('public'))) {
      const where = addressOf(path, { params }).slice(1)
      const client = clients[access]
      const answer = await (method === 'GET' ? client.get(where) : client[method.toLowerCase() as 'post'](where, {}))
      const refused = path !== '/statuses' && !may[access](method, path)
      expect([`${method} ${path}`, restCode(answer) === 'FORBIDDEN']).toEqual([`${method} ${path}`, refused])
      if (refused) expect(answer.body.error.message).toBe(`A key with the access \`${access}\` cannot do this`)
    }
  })

  it('gets the same decision about the operation of every route over the graph', async () => {
    for (const row of rows) {
      const code = graphCode(await clients[access].graphql(print(row.document), {}))
      expect([row.path, row.method, code === 'FORBIDDEN']).toEqual([row.path, row.method, !may[access](row.method, row.path)])
    }
  })

  it('may use exactly its root fields, over requests and over streams', async () => {
    for (const [operation, name] of fields) {
      const allowed = mayField[access](operation, name)
      expect([name, accessOfField(operation as never, name).includes(access)]).toEqual([name, allowed])
      const query = `${operation} { ${name} }`
      for (const headers of [{}, { accept: 'text/event-stream' }])
        for (const path of ['/graphql', '/graphql/stream']) {
          if (path === '/graphql/stream' && !('accept' in headers)) continue
          const answer = await clients[access].post(path, { query }, { accept: 'application/json', ...headers })
          const refused = answer.status === 403 && graphCode(answer) === 'FORBIDDEN'
          expect([path, query, refused]).toEqual([path, query, !allowed])
        }
    }
  })

  it('may not mix a field of its own with one beyond it', async () => {
    const beyond = {
      send: '{ messages { nodes { id } } campaigns { nodes { id } } }',
      read: 'mutation { a: previewTemplate(id: "x") { body } deleteContact(id: "x") { id } }',
    }
    expect(graphCode(await clients[access].graphql(beyond[access]))).toBe('FORBIDDEN')
    expect(graphCode(await clients[access].graphql('{ __typename __schema { queryType { name } } }'))).toBe(null)
  })
})

it('shows a `send` key what its roots relate to', async () => {
  const { body } = await clients.send.graphql('{ messages { nodes { contact { name } campaign { name } } } }')
  expect(body).toEqual({ data: { messages: { nodes: [] } } })
})

it('streams to `read` and not to `send`, and lets `read` change nothing over a stream', async () => {
  const open = async (access: 'send' | 'read', path: string, method = 'GET') => {
    const stop = new AbortController()
    const headers = { 'x-api-key': keys[access], accept: 'text/event-stream' }
    const { status } = await fetch(new URL(path, url), { method, headers, signal: stop.signal })
    stop.abort()
    return status
  }
  expect([await open('send', '/api/v1/events/stream'), await open('read', '/api/v1/events/stream')]).toEqual([403, 200])
  expect([await open('send', '/graphql/stream', 'PUT'), await open('read', '/graphql/stream', 'PUT')]).toEqual([403, 201])
  const token = await (await fetch(`${url}/graphql/stream`, { method: 'PUT', headers: { 'x-api-key': keys.read } })).text()
  const operate = (query: string) =>
    clients.read.post(
      '/graphql/stream',
      { query, extensions: { operationId: '1' } },
      {
        accept: 'application/json',
        'x-graphql-event-stream-token': token,
      },
    )
  const refused = await operate('mutation { deleteContact(id: "x") { id } }')
  expect([refused.status, graphCode(refused)]).toEqual([403, 'FORBIDDEN'])
  expect((await operate('{ contacts { nodes { id } } }')).status).toBe(202)
})

it('does not count a refused request, over REST or the graph', async () => {
  const { key } = await createApiKey(prisma(databaseUrl), {
    email: (await createAccount(databaseUrl)).email,
    name: 'X',
    access: 'send',
  })
  const client = api({ url }, key)
  expect(restCode(await client.get('contacts'))).toBe('FORBIDDEN')
  expect(graphCode(await client.graphql('{ contacts { nodes { id } } }'))).toBe('FORBIDDEN')
  expect((await client.get('messages')).status).toBe(200)
  const { rows: counted } = await sql(databaseUrl).query(
    'select a."apiRequestsCount" as n from api_usage a join api_keys k on k."userId" = a."userId" where k.prefix = $1',
    [key.slice(0, 16)],
  )
  expect(counted).toEqual([{ n: 1 }])
})

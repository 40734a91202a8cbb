// The status of a GraphQL answer if nothing ran: the database refuses work, or the caller has too much of it.
import { expect, it } from 'vitest'
import { operationMemory } from '../../src/core/graph/execute.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { refuse } from '../kit/fault.ts'
import { openGateway } from '../kit/open-gateway.ts'

const json = { accept: 'application/json' }
const typed = { accept: 'application/graphql-response+json' }
const send = 'mutation($input: SendMessageInput!) { sendMessage(input: $input) { id } }'

it('is 503 with Retry-After for both media types if nothing ran, so that the same request succeeds later', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const { id: instanceId } = await connectedInstance(databaseUrl, account)
  const { graphql } = api(await openGateway({ databaseUrl }), account.apiKey)
  const input = { instanceId, to: '+4915112345678', type: 'text', text: 'Hello' }
  const undo = await refuse(databaseUrl, 'insert', 'messages')
  for (const accept of [json, typed]) {
    const { status, headers, body } = await graphql(send, { input }, accept)
    expect([status, headers.get('retry-after'), body.data]).toEqual([503, '1', null])
    expect(body.errors).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE' } }])
  }
  await undo()
  expect((await graphql(send, { input }, json)).status).toBe(200)
})

it('is 429 with Retry-After if nothing ran because the caller has too many large operations already', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const { graphql } = api(await openGateway({ databaseUrl }), account.apiKey)
  const { rows } = await sql(databaseUrl).query<{ id: string }>('select id from api_keys')
  const take = () => operationMemory.take(rows[0]?.id as string, 64 * 1024 * 1024)
  const first = await take()
  const waiting = Array.from({ length: 100 }, () => take().then((reservation) => reservation.keepUntilSent(0)))
  const { status, headers, body } = await graphql('{ messages(first: 100) { nodes { id } } }', {}, typed)
  expect([status, headers.get('retry-after')]).toEqual([429, '1'])
  expect(body.errors).toMatchObject([{ extensions: { code: 'API_RATE_LIMIT_EXCEEDED' } }])
  first.keepUntilSent(0)
  await Promise.all(waiting)
})

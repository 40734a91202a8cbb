// The status of a GraphQL answer while the database refuses work.
import { expect, it } from 'vitest'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase } from '../kit/database.ts'
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

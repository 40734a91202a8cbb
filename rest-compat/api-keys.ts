// REST routes of a person's own API keys.
import { z } from 'zod'
import { graphql } from './generated/gql.ts'
import { bodyAsInput, byId, deletedAnswer, ofPeople, row } from './route.ts'

graphql(`
  fragment ApiKeyRecord on ApiKey {
    id
    name
    prefix
    access
    createdAt
    lastUsedAt
  }
`)

graphql(`
  fragment IssuedApiKeyRecord on IssuedApiKey {
    id
    name
    prefix
    key
    access
    createdAt
    lastUsedAt
  }
`)

const ListApiKeys = graphql(`
  query ListApiKeys {
    apiKeys {
      ...ApiKeyRecord
    }
  }
`)

const CreateApiKey = graphql(`
  mutation CreateApiKey($input: CreateApiKeyInput!) {
    createApiKey(input: $input) {
      ...IssuedApiKeyRecord
    }
  }
`)

const RevokeApiKey = graphql(`
  mutation RevokeApiKey($id: ID!) {
    revokeApiKey(id: $id) {
      id
      deleted
    }
  }
`)

export const keyRecord = z.object({
  id: z.uuid(),
  name: z.string(),
  prefix: z.string(),
  access: z.enum(['full', 'send', 'read']),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable(),
})
export const issuedKeyRecord = keyRecord.extend({ key: z.string() })

export const apiKeyRoutes = [
  row('GET', '/api-keys', {
    ...ofPeople,
    summary: 'List your API keys',
    document: ListApiKeys,
    variables: () => ({}),
    project: (data) => data.apiKeys,
    answer: z.array(keyRecord),
  }),
  row('POST', '/api-keys', {
    ...ofPeople,
    summary: 'Create an API key',
    document: CreateApiKey,
    input: 'CreateApiKeyInput',
    status: 201,
    variables: bodyAsInput,
    project: (data) => data.createApiKey,
    answer: issuedKeyRecord,
  }),
  row('DELETE', '/api-keys/:id', {
    ...ofPeople,
    summary: 'Revoke an API key',
    document: RevokeApiKey,
    variables: byId,
    project: (data) => data.revokeApiKey,
    answer: deletedAnswer,
  }),
]

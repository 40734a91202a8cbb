// Proves GraphQL over HTTP with the whole audit of graphql-http, and the format of errors.
import { serverAudits } from 'graphql-http'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Api, api } from '../kit/api.ts'
import { prisma } from '../kit/database.ts'
import { nobody, openRig, type Rig } from '../rest-compat/rig.ts'

let rig: Rig
let client: Api

beforeAll(async () => {
  rig = await openRig()
  client = rig.tenant.api
})

describe('the audit of graphql-http', () => {
  const audits = serverAudits({
    url: () => `${rig.gateway.url}/graphql`,
    fetchFn: (url: string, init: RequestInit = {}) =>
      fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), 'x-api-key': rig.tenant.account.apiKey } }),
  })

  it('has 61 checks', () => {
    expect(audits).toHaveLength(61)
  })

  it.each(audits.map((audit) => [audit.name, audit] as const))('passes: %s', async (_, audit) => {
    const result = await audit.fn()
    expect([result.status, 'reason' in result ? result.reason : '']).toEqual(['ok', ''])
  })
})

const oddities = {
  VALIDATION_ERROR: [
    '{',
    '',
    '{ nonsense }',
    '{ me { nonsense } }',
    '{ mee { id } }',
    '{ messages(sort: createdAt_des) { nodes { id } } }',
    '{ messages(frist: 1) { nodes { id } } }',
    '{ message(id: "5") { id } }',
    '{ message { id } }',
    'query ($id: ID!) { message(id: $id) { id } }',
    'query a { me { id } } query b { me { id } }',
    'mutation { sendMessage(input: { to: "5", type: txt }) { id } }',
    'subscription { events { id } }',
    '{ messages(first: 0) { nodes { id } } }',
    '{ messages(first: 101) { nodes { id } } }',
    '{ messages(first: 1, last: 1) { nodes { id } } }',
    '{ messages(after: "x") { nodes { id } } }',
    '{ events(first: 0) { nodes { id } } }',
    '{ history(phone: "5") { nodes { id } } }',
  ],
  NOT_FOUND: [
    `{ message(id: "${nobody}") { id } }`,
    `{ instance(id: "${nobody}") { id } }`,
    `{ webhook(id: "${nobody}") { id } }`,
    `mutation { cancelMessage(id: "${nobody}") { id } }`,
    `mutation { deleteInstance(id: "${nobody}") { id } }`,
    `mutation { redeliver(deliveryId: "${nobody}") { id } }`,
  ],
}

describe('an error', () => {
  it.each(Object.entries(oddities).flatMap(([code, documents]) => documents.map((document) => [document, code] as const)))(
    'of %s carries the code %s and no suggestion',
    async (document, code) => {
      for (const accept of ['application/json', 'application/graphql-response+json', '*/*']) {
        const { status, headers, body } = await client.graphql(document, undefined, { accept })
        expect([200, 400]).toContain(status)
        expect(headers.get('content-type')).toMatch(/^application\/(graphql-response\+)?json; charset=utf-8$/)
        for (const error of body.errors) {
          expect(Object.keys(error.extensions).filter((name) => name !== 'issues')).toEqual(['code'])
          expect(error.extensions.code).toBe(code)
          expect(error.message).not.toMatch(/did you mean|suggest|at .*\.ts/i)
        }
      }
    },
  )

  it.each([
    ['an argument', `query ($id: ID = "${nobody}") { message(id: $id) { id } }`, { id: null }, 'id: must not be null'],
    ['a directive', 'query ($if: Boolean = true) { me { id @skip(if: $if) } }', { if: null }, 'if: must not be null'],
  ])('for a null in %s is a validation error that names the variable', async (_, query, variables, message) => {
    for (let run = 0; run < 8; run++) {
      for (const accept of ['application/json', 'text/event-stream']) {
        const { body } = await client.graphql(query, variables, { accept })
        const { errors } = typeof body === 'string' ? JSON.parse(body.match(/^data: (.*)$/m)?.[1] ?? '{}') : body
        expect(errors).toMatchObject([{ message, extensions: { code: 'VALIDATION_ERROR' } }])
      }
    }
  })

  it('for a variable contains no suggestion either', async () => {
    const document = 'mutation ($input: CreateInstanceInput!) { createInstance(input: $input) { id } }'
    const { body } = await client.graphql(document, { input: { name: 'x', setings: {} } })
    expect(body.errors[0]).toMatchObject({
      extensions: { code: 'VALIDATION_ERROR' },
      message: expect.stringContaining('setings'),
    })
    expect(body.errors[0].message).not.toMatch(/did you mean/i)
  })

  it.each([
    ['no key', {}, 401, 'UNAUTHORIZED'],
    ['a team for a personal key', { 'x-team-id': nobody }, 403, 'TEAM_KEY_REQUIRED'],
  ])('for %s has its own status, even if a stream was requested', async (name, headers, status, code) => {
    const stranger = name === 'no key' ? api(rig.gateway) : client
    for (const accept of ['application/json', 'application/graphql-response+json', 'text/event-stream']) {
      const answer = await stranger.graphql('{ instances { id } }', {}, { ...headers, accept })
      expect([answer.status, answer.body.errors[0].extensions.code]).toEqual([status, code])
    }
  })

  it('is the answer when a team key asks for personal data of the owner', async () => {
    const { createTeam } = await import('../../src/teams/service.ts')
    const team = await createTeam(prisma(rig.databaseUrl), { ownerEmail: rig.tenant.account.email, name: 'Team' })
    const ours = api(rig.gateway, team.apiKey, { 'x-team-id': team.teamId })
    for (const field of ['me { id }', 'usage { messagesCount }', 'subscription { status }', 'payments { id }']) {
      for (const document of [`{ ${field} }`, `{ ...F } fragment F on Query { ${field} }`]) {
        expect((await ours.graphql(document)).body.errors[0].extensions.code).toBe('TEAM_KEY_NOT_ALLOWED')
      }
    }
    expect((await ours.graphql('{ plans { code } }')).body.data.plans).toHaveLength(3)
    expect((await client.graphql('{ plans { code } }', {}, { 'x-team-id': team.teamId })).body.data.plans).toHaveLength(3)
    expect((await client.graphql('{ me { id } }', {}, { 'x-team-id': team.teamId })).body.data.me.id).toBe(
      rig.tenant.account.userId,
    )
    const streamed = { 'x-team-id': team.teamId, accept: 'text/event-stream' }
    expect((await client.graphql('{ me { id } }', {}, streamed)).body).toContain(
      `{"data":{"me":{"id":"${rig.tenant.account.userId}"}}}`,
    )
    expect((await client.graphql('{ instances { id } }', {}, streamed)).status).toBe(403)
  })
})

// Proves that compiling repeated documents and reading lists with joins do not change the answers.
import {
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  parse,
  validate,
} from 'graphql'
import { beforeAll, expect, it } from 'vitest'
import type { Context } from '../../src/core/context.ts'
import { executeCompiled } from '../../src/core/graph/compiled.ts'
import { newId } from '../../src/core/id.ts'
import { schema } from '../../src/schema.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { contextFor, openApp } from '../messages/rig.ts'

let context: Context
let messageId: string
let contactId: string

beforeAll(async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  context = contextFor(await openApp(databaseUrl), account)
  const { id: instanceId } = await connectedInstance(databaseUrl, account)
  contactId = newId()
  await sql(databaseUrl).query(
    `insert into contacts (id, "workspaceId", name, phone, tags, custom) values ($1, $2, 'Ada', '+393331234500', '{vip}', '{"order":"7"}')`,
    [contactId, account.workspaceId],
  )
  for (const [i, about] of [contactId, null, contactId].entries()) {
    messageId = newId()
    await sql(databaseUrl).query(
      `insert into messages (id, "workspaceId", "userId", "instanceId", "contactId", type, "to", peer, body, status, safety, "sentAt", warnings)
       values ($1, $2, $3, $4, $5, 'text', '+393331234500', '+393331234500', $6, 'sent', '{"decision":"allow","riskLevel":"low","state":"stable","score":100}', now(), $7)`,
      [
        messageId,
        account.workspaceId,
        account.userId,
        instanceId,
        about,
        `Hello ${i}`,
        i === 0 ? ['hourlyOutboundCap exceeded'] : [],
      ],
    )
  }
})

/** Executes an operation as the server does. */
async function executed(args: ExecutionArgs): Promise<ExecutionResult> {
  return (await executeCompiled(args)) ?? (await execute(args))
}

/** Returns true if a repeated document is executed compiled. */
async function isCompiled(query: string, variableValues = {}): Promise<boolean> {
  const args = { schema, document: parse(query), variableValues, contextValue: { ...context } }
  let result = null
  for (let run = 0; run < 10; run++) result = await executeCompiled(args)
  return result !== null
}

/** Expects the interpreted result and that of the tenth, compiled run to be equal, and returns the latter. */
async function twice(query: string, variables: Record<string, unknown> = {}): Promise<ExecutionResult> {
  const document = parse(query)
  expect(validate(schema, document)).toEqual([])
  const args = { schema, document, variableValues: variables, contextValue: context }
  const interpreted = await execute(args)
  let compiled: ExecutionResult = {}
  for (let run = 0; run < 10; run++) compiled = await executed({ ...args, contextValue: { ...context } })
  const plain = (result: ExecutionResult) =>
    // As it is sent; the nodes, from which a server computes locations, are compared by number.
    JSON.stringify({
      errors: result.errors?.map((error) => ({ ...error.toJSON(), nodes: error.nodes?.length })),
      data: result.data,
    })
  expect(plain(compiled)).toEqual(plain(interpreted))
  return compiled
}

const whole = `id userId instanceId contactId campaignId direction type from to body mediaUrl status error providerMessageId warnings
  safety { decision riskLevel state score } createdAt updatedAt scheduledAt sentAt deliveredAt readAt timeline { status at }`

it.each([
  [
    'a whole list',
    `{ messages { nodes { ${whole} } edges { cursor node { id } } pageInfo { endCursor startCursor hasNextPage } totalCount } }`,
  ],
  [
    'a list with contacts and instances',
    '{ messages { nodes { body contact { name tags custom } instance { name status waNumber } } } }',
  ],
  [
    'relations by other names, twice',
    '{ messages(first: 2) { edges { node { a: contact { phone } b: contact { email id } instance { id } } } } }',
  ],
  [
    'fragments',
    'query { messages { ...page } } fragment page on MessageConnection { nodes { ... on Message { body ...of } } } fragment of on Message { contact { name } }',
  ],
  [
    'a fragment on the former name of a connection',
    '{ messages { ...page } } fragment page on QueryMessagesConnection { edges { ...edge } } fragment edge on QueryMessagesConnectionEdge { node { body contact { name } } }',
  ],
  [
    'relations of relations',
    '{ messages { nodes { instance { state { connected } health { safetyScore } } contact { name } } } }',
  ],
  ['the names of types', '{ messages { __typename nodes { __typename contact { __typename } } } }'],
  ['a history', '{ history(phone: "+393331234500", first: 1) { nodes { body instance { name } } pageInfo { hasNextPage } } }'],
  ['nothing at all', '{ messages(first: 1) { pageInfo { hasNextPage } } }'],
])('answers the same compiled: %s', async (_, query) => {
  expect((await twice(query)).errors).toBeUndefined()
  expect(await isCompiled(query)).toBe(true)
})

it.each([
  ['a directive', '{ messages { nodes { id body @skip(if: false) } } }'],
  [
    'a fragment that is spread twice',
    `{ a: contact(id: "${newId()}") { ...F } b: contacts { nodes { ...F } } } fragment F on Contact { id }`,
  ],
  ['a variable of an input object', 'query ($filter: MessageFilter) { messages(filter: $filter) { nodes { id } } }'],
  ['a variable in a written value', 'query ($type: MessageType) { messages(filter: { type: $type }) { nodes { id } } }'],
])('leaves %s to graphql-js', async (_, query) => {
  expect(await isCompiled(query)).toBe(false)
})

it('answers the same with variables, directives and omitted fields', async () => {
  const query =
    'query ($n: Int = 2, $yes: Boolean!) { messages(first: $n) { nodes { body @include(if: $yes) id @skip(if: $yes) contact @include(if: $yes) { name } } } }'
  for (const variables of [{ yes: true }, { yes: false, n: 1 }, { yes: true, n: 3 }]) await twice(query, variables)
  expect((await twice(query, { yes: true, n: null })).errors).toBeUndefined()
})

it('answers the same for fragments that are spread twice, once under a directive', async () => {
  const contact = `contact(id: "${contactId}")`
  const fragment = 'fragment F on Contact { name }'
  for (const query of [
    `query ($yes: Boolean!) { ${contact} { ...F @include(if: $yes) ...F } } ${fragment}`,
    `query ($yes: Boolean!) { ${contact} { ... @include(if: $yes) { ...F } ...F } } ${fragment}`,
    `query ($yes: Boolean!) { ${contact} @include(if: $yes) { ...F } ${contact} { ...F } } ${fragment}`,
  ]) {
    for (const yes of [true, false]) expect((await twice(query, { yes })).data).toEqual({ contact: { name: 'Ada' } })
  }
})

it('changes no field whose variable is omitted, however often it runs', async () => {
  const change = (variables: string, input: string) =>
    `mutation (${variables}) { updateContact(id: "${contactId}", input: { ${input} }) { name email custom tags } }`
  await twice(change('$email: String, $tag: String!', 'email: $email, tags: ["vip", $tag]'), {
    email: 'ada@example.com',
    tag: 'x',
  })
  const kept = await twice(
    change('$name: String, $email: String, $order: JSON', 'name: $name, email: $email, custom: { order: $order }'),
    { name: 'Ada', order: '8' },
  )
  expect(kept.data).toEqual({
    updateContact: { name: 'Ada', email: 'ada@example.com', custom: { order: '8' }, tags: ['vip', 'x'] },
  })
})

it('answers the same for invalid variables', async () => {
  const query = 'query ($n: Int!, $filter: MessageFilter) { messages(first: $n, filter: $filter) { nodes { id } } }'
  for (const variables of [
    {},
    { n: 'two' },
    { n: 1, filter: { status: 'gone' } },
    { n: 1, filter: { unknown: 1 } },
    { n: 2 ** 40 },
    { n: 1, filter: [] },
    { n: [1] },
  ]) {
    expect((await twice(query, variables)).errors).toHaveLength(1)
  }
})

it('answers the same for failures, with the same paths', async () => {
  const failing = await twice('query ($id: ID!, $other: ID!) { a: message(id: $id) { body } b: message(id: $other) { body } }', {
    id: messageId,
    other: newId(),
  })
  expect(failing.errors).toMatchObject([{ path: ['b'] }])
})

it('gives each run its own answer when many run at once', async () => {
  const document = parse('query ($n: Int!) { messages(first: $n) { nodes { body contact { name } } } }')
  const sizes = Array.from({ length: 60 }, (_, i) => 1 + (i % 3))
  const answers = await Promise.all(
    sizes.map((n) => executed({ schema, document, variableValues: { n }, contextValue: { ...context } })),
  )
  expect(answers.map(({ data }) => (data as { messages: { nodes: unknown[] } }).messages.nodes.length)).toEqual(sizes)
})

it('runs a mutation exactly once, whatever its outcome', async () => {
  const endings: Record<string, () => unknown> = {
    fails: () => {
      throw new Error('no')
    },
    failsLater: () => Promise.reject(new Error('not now')),
    isNull: () => null,
    succeeds: () => 'done',
  }
  let runs = 0
  const type = new GraphQLNonNull(GraphQLString)
  const fields = Object.fromEntries(
    Object.entries(endings).map(([name, end]) => [name, { type, resolve: () => ++runs && end() }]),
  )
  const query = new GraphQLObjectType({ name: 'Query', fields: { any: { type } } })
  const own = new GraphQLSchema({ query, mutation: new GraphQLObjectType({ name: 'Mutation', fields }) })
  for (const name of Object.keys(endings)) {
    const document = parse(`mutation { ${name} }`)
    runs = 0
    for (let run = 1; run <= 10; run++) {
      const { data, errors } = await executed({ schema: own, document, contextValue: {} })
      expect([name, runs, data === null, errors?.length ?? 0]).toEqual([
        name,
        run,
        name !== 'succeeds',
        name === 'succeeds' ? 0 : 1,
      ])
    }
  }
})

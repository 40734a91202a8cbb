// Proves that the OpenAPI documents, one for keys and one for people, are valid, complete and described in words.
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, it } from 'vitest'
import type { OpenApiDocument } from '../../rest-compat/openapi/document.ts'
import { exampleRecords } from '../../rest-compat/openapi/example-records.ts'
import { routes } from '../../rest-compat/routes.ts'
import { errors } from '../../src/core/errors.ts'
import { createSealer } from '../../src/core/seal.ts'
import { demoIds } from '../../src/demo/demo.ts'
import { eventDefinitions } from '../../src/event-types.ts'
import { sealCursor } from '../../src/events/log/cursor.ts'
import { sendTypes } from '../../src/message-types/service.ts'
import { schema } from '../../src/schema.ts'
import { apiDocument, expectRecord } from '../kit/document.ts'
import { operationsOf, surfaces, type Told } from './surfaces.ts'

type Json = { [key: string]: Json } & Json[]

/** Every object and array of the document with its path, `a/b/c`. */
function* nodesOf(node: unknown, at = ''): Generator<{ at: string; node: Json }> {
  if (typeof node !== 'object' || node === null) return
  yield { at, node: node as Json }
  for (const [name, value] of Object.entries(node)) yield* nodesOf(value, `${at}/${name}`)
}

/** The problems that Redocly's linter reports, as `rule pointer`. */
async function lint(document: OpenApiDocument): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config })
  return problems.map(({ ruleId, location: [first] }) => `${ruleId} ${first?.pointer}`)
}

it('the documents contain every record that has an example', () => {
  const names = surfaces.flatMap(({ surface }) => Object.keys(apiDocument(surface).components.schemas))
  expect(Object.keys(exampleRecords(demoIds)).filter((name) => !names.includes(name))).toEqual([])
})

it.each(['README.md', 'rest-compat/openapi/guides/messages.md'])('%s names every message type', (name) => {
  const list = new Intl.ListFormat('en-GB').format(sendTypes.map((type) => `\`${type}\``))
  const text = readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
  expect(text.match(/The types of messages are ([^.]+)\./)?.[1]).toBe(list)
})

describe.each(surfaces)('the document of the $surface surface', ({ surface, problems, others, apart, security }) => {
  const document = apiDocument(surface)
  const operations = operationsOf(document)
  const nodes = [...nodesOf(document)]

  function follow({ $ref }: { $ref?: string }): Json | undefined {
    const parts = $ref?.slice(2).split('/')
    return parts?.reduce<Json | undefined>((found, part) => found?.[part], document as unknown as Json)
  }

  it("follows Redocly's recommendations, except where the contract differs", async () => {
    expect((await lint(document)).sort()).toEqual([...problems].sort())
  })

  it('has every route, and no other', () => {
    const served = routes.filter(({ surfaces }) => surfaces.includes(surface)).map((route) => `${route.method} ${route.path}`)
    const outcome = operations.map(({ name }) => name.replaceAll(/\{(\w+)\}/g, ':$1'))
    expect(outcome.sort()).toEqual([...served, ...others].sort())
  })

  it('has a summary and a description for every route', () => {
    for (const { operation, name } of operations) {
      expect(operation.summary, name).toMatch(/^[A-Z][^.]{5,69}$/)
      expect(operation.description, name).toMatch(/^[A-Z].*[.…]$/s)
    }
  })

  it('describes every field, parameter, header and answer', () => {
    const fields = nodes.flatMap(({ at, node }) =>
      Object.entries(node.properties ?? {}).map(([name, field]) => [`${at}/${name}`, field as Json] as const),
    )
    const named = Object.entries(document.components.schemas) as [string, Json][]
    const parts = nodes.filter(({ at }) => /(?<!\/properties)\/(parameters|headers)\/[^/]+$|\/responses\/[^/]+$/.test(at))
    const all = [...fields, ...named, ...parts.map(({ at, node }) => [at, node] as const)]
    // The `data` field of the envelope needs no description.
    const silent = all.filter(
      ([at, node]) => !at.endsWith('schema/data') && !node.description && !follow(node as { $ref?: string })?.description,
    )
    expect(silent.map(([at]) => at)).toEqual([])
    expect(all.length).toBeGreaterThan(500)
  })

  it('has no nullable query parameter', () => {
    const inAddress = nodes.filter(({ node }) => (node.in as unknown) === 'query').map(({ at, node }) => [at, node.schema?.type])
    expect(inAddress.filter(([, type]) => Array.isArray(type))).toEqual([])
    expect(inAddress.length).toBeGreaterThan(20)
  })

  it('mentions null only for fields that can be null', () => {
    const outcome = nodes.filter(({ at, node }) => /\/properties\/\w+$/.test(at) && /null/.test(String(node.description)))
    expect(outcome.filter(({ node }) => !/"null"/.test(JSON.stringify(node))).map(({ at }) => at)).toEqual([])
    expect(outcome.length).toBeGreaterThan(2)
  })

  it('lists the team as an optional header and not as a security scheme', () => {
    // A generated client with one key would show it as every apiKey scheme that an operation names.
    const schemes = Object.values(document.components.securitySchemes) as { name?: string }[]
    expect(schemes.map(({ name }) => name)).not.toContain('X-Team-Id')
    const taking = operations.filter(({ operation }) => JSON.stringify(operation.parameters ?? []).includes('/X-Team-Id'))
    const names = taking.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['POST /messages/send', 'POST /media', 'GET /media/{id}', 'GET /events/stream']))
    expect(names.includes('GET /me')).toBe(surface === 'console')
  })

  it('names every record, and defines each once', () => {
    function isNamed(answer: Json): boolean {
      if (answer.$ref) return true
      if (answer.type === ('array' as unknown)) return isNamed(answer.items as Json)
      const lists = Object.values(answer.properties ?? {}).filter((field) => (field as Json).items)
      return 'nextCursor' in (answer.properties ?? {}) && lists.every(isNamed)
    }
    const answers = nodes.filter(({ at }) => at.endsWith('/schema/properties/data'))
    expect(answers.filter(({ node }) => !isNamed(node)).map(({ at }) => at)).toEqual([])
    const shapes = Object.entries(document.components.schemas).map(([name, record]) => [JSON.stringify(record), name])
    expect(new Map(shapes as [string, string][]).size).toBe(shapes.length)
  })

  it('uses the names of the GraphQL schema for operations', () => {
    const fields = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((type) =>
      Object.keys(type?.getFields() ?? {}),
    )
    const outcome = operations.map(({ operation }) => operation.operationId)
    expect(outcome.filter((id) => !fields.includes(id)).sort()).toEqual([...apart].sort())
    expect(new Set(outcome).size).toBe(outcome.length)
  })

  it('shows examples that conform to their records', () => {
    const shown = Object.entries(document.components.schemas as Record<string, { examples?: unknown[] }>)
    const examples = shown.flatMap(([name, { examples = [] }]) => examples.map((example) => [name, example] as const))
    for (const [name, example] of examples) expectRecord(name, example, surface)
    expect(examples.length).toBeGreaterThan(10)
  })

  it('has no dangling references and no unused components', () => {
    const refs = nodes.flatMap(({ node }) => (typeof node.$ref === 'string' ? [node.$ref as string] : []))
    expect(refs.filter(($ref) => !follow({ $ref }))).toEqual([])
    const kept = Object.entries(document.components).filter(([kind]) => kind !== 'securitySchemes')
    const held = kept.flatMap(([kind, parts]) => Object.keys(parts).map((name) => `#/components/${kind}/${name}`))
    expect(held.filter(($ref) => !refs.includes($ref))).toEqual([])
  })

  it('has only errors of the error table, each under its status', () => {
    const outcome = Object.values(document.components.responses).flatMap((response) =>
      [...nodesOf(response)].filter(({ at }) => at.endsWith('/code/enum')).map(({ node }) => node as unknown as string[]),
    )
    const codes = [...new Set(outcome.flat())]
    expect(codes.filter((code) => !Object.hasOwn(errors, code))).toEqual([])
    for (const { operation, name } of operations) {
      for (const [status, response] of Object.entries(operation.responses) as [string, { $ref?: string }][]) {
        const group = response.$ref?.split('/').at(-1)?.split('.') ?? []
        for (const code of group.filter((part) => part !== 'repeatable'))
          expect(errors[code as keyof typeof errors].status, `${name} ${code}`).toBe(Number(status))
      }
    }
  })

  it('has the errors that every route can give, and only known security schemes', () => {
    for (const { operation, name } of operations.filter(({ at }) => at !== '/openapi.json')) {
      expect(Object.keys(operation.responses), name).toEqual(expect.arrayContaining(['500', '503']))
      const ways = operation.security as Record<string, never>[]
      const shown = ways.map((way) => Object.keys(way))
      expect(
        shown.flat().filter((scheme) => !security.includes(scheme)),
        name,
      ).toEqual([])
      const isOpen = ways.length === 0 || shown.some((way) => way.length === 0)
      expect(JSON.stringify(operation.responses[401] ?? '').includes('UNAUTHORIZED'), name).toBe(!isOpen)
    }
  })
})

describe('for errors, the document', () => {
  const codesOf = ({ operation }: Told) =>
    Object.values(operation.responses as Record<string, { $ref?: string }>).flatMap(
      ({ $ref }) => $ref?.split('/').at(-1)?.split('.') ?? [],
    )

  it('of keys has what every key can get, and nothing about people', () => {
    for (const outcome of operationsOf(apiDocument('public')).filter((one) => one.at !== '/openapi.json')) {
      const { operation, name } = outcome
      expect(
        codesOf(outcome).filter((code) => /^TEAM_NOT_|^BILLING_|^INVALID_CREDENTIALS$/.test(code)),
        name,
      ).toEqual([])
      // Every key may read the plan catalogue.
      const refused = name === 'GET /billing/plans' ? [] : ['403']
      expect(Object.keys(operation.responses), name).toEqual(expect.arrayContaining(['401', ...refused, '429', '500', '503']))
    }
  })

  it('has those that the graph lists for a field', () => {
    const outcome = operationsOf(apiDocument('public')).filter(({ name }) => name === 'POST /templates')
    expect(outcome.flatMap(codesOf)).toEqual(expect.arrayContaining(['TEMPLATE_INVALID', 'CONFLICT', 'INVALID_STATE']))
  })

  it('of people has nothing about keys, and TEAM_NOT_FOUND wherever a team is named', () => {
    for (const outcome of operationsOf(apiDocument('console'))) {
      const codes = codesOf(outcome)
      expect(
        codes.filter((code) => /^TEAM_KEY_|^MONTHLY_API_/.test(code)),
        outcome.name,
      ).toEqual([])
      const inHeader = JSON.stringify(outcome.operation.parameters ?? []).includes('X-Team-Id')
      expect(codes.includes('TEAM_NOT_FOUND'), outcome.name).toBe(inHeader || outcome.at.includes('{teamId}'))
    }
    // The guide to teams shows the use of a team's key.
    expect(JSON.stringify(apiDocument('console'))).not.toMatch(/RateLimit|x-api-key(?!: \$TEAM_KEY)/)
  })
})

describe('for events, the document', () => {
  const document = apiDocument('public')

  it('shows a cursor in the format of real ones', () => {
    const stream = document.paths['/events/stream']?.get?.responses[200] as unknown as Json
    const [, cursor] = String(stream.content?.['text/event-stream']?.example).match(/^id: (.*)$/m) as RegExpMatchArray
    const one = sealCursor(createSealer(randomBytes(32)), randomUUID(), { seq: 12n, mark: 40, at: new Date() })
    for (const each of [one, cursor as string]) {
      const bytes = Buffer.from(each, 'base64url')
      expect([bytes.length, bytes.toString('base64url')]).toEqual([16, each])
    }
  })

  it('has each type, with its payload and its signature headers', () => {
    const webhooks = document.webhooks as unknown as Record<
      string,
      { post: { parameters: { name: string; required: boolean }[] } }
    >
    expect(Object.keys(webhooks)).toEqual(eventDefinitions.map(({ type }) => type))
    for (const { post } of Object.values(webhooks)) {
      const sometimes = post.parameters.filter(({ required }) => !required).map(({ name }) => name)
      expect(sometimes).toEqual(['X-Service-Signature-Previous'])
      expect(post.parameters.map(({ name }) => name)).toEqual([
        'X-Service-Event',
        'X-Service-Delivery',
        'X-Service-Signature',
        'X-Service-Signature-Previous',
        'webhook-id',
        'webhook-timestamp',
        'webhook-signature',
      ])
    }
  })
})

// The API's document: valid, whole, and in words.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { routes } from '../../rest-compat/routes.ts'
import { errors } from '../../src/core/errors.ts'
import { decodeCursor, encodeCursor } from '../../src/events/cursor.ts'
import { eventTypes } from '../../src/events/emit.ts'
import { schema } from '../../src/schema.ts'
import { apiDocument, expectRecord } from '../kit/document.ts'
import { atEnd, environment, node, root } from '../kit/kit.ts'

type Json = { [key: string]: Json } & Json[]

const document = apiDocument()
const operations = Object.entries(document.paths).flatMap(([at, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ at, method, operation, name: `${method.toUpperCase()} ${at}` })),
)

/** Every node of the document that has a place in it, `a/b/c`. */
function* nodesOf(node: unknown, at = ''): Generator<{ at: string; node: Json }> {
  if (typeof node !== 'object' || node === null) return
  yield { at, node: node as Json }
  for (const [name, value] of Object.entries(node)) yield* nodesOf(value, `${at}/${name}`)
}

const nodes = [...nodesOf(document)]

function follow({ $ref }: { $ref?: string }): Json | undefined {
  const parts = $ref?.slice(2).split('/')
  return parts?.reduce<Json | undefined>((found, part) => found?.[part], document as unknown as Json)
}

interface Problem {
  ruleId: string
  location: { pointer?: string }[]
}

/** What Redocly holds against it, without a word to anybody outside. */
async function lint(): Promise<string[]> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'gateway-document-'))
  atEnd('test', async () => await rm(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'openapi.json')
  await writeFile(file, JSON.stringify(document))
  const cli = path.join(root, 'node_modules/@redocly/cli/bin/cli.js')
  const env = { ...environment, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_PROXY: '*', HOME: folder }
  const args = [cli, 'lint', file, '--extends', 'recommended', '--format', 'json']
  const text = await new Promise<string>((resolve) => {
    execFile(node, args, { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 }, (_, stdout) => resolve(stdout))
  })
  const { problems } = JSON.parse(text.slice(text.indexOf('{'))) as { problems: Problem[] }
  return problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`)
}

describe('the document', () => {
  it('is what Redocly recommends, but for what the contract has otherwise', async () => {
    expect(await lint()).toEqual([
      // The contract's own paths; a UUID is never `groups` or `bulk-jobs`.
      'no-ambiguous-paths #/paths/~1contacts~1groups~1{groupId}',
      'no-ambiguous-paths #/paths/~1contacts~1bulk-jobs~1{jobId}',
      'operation-2xx-response #/paths/~1statuses/post/responses',
      'operation-4xx-response #/paths/~1openapi.json/get/responses',
    ])
  })

  it('has every route, and no other', () => {
    const served = routes.filter(({ surfaces }) => surfaces.includes('public')).map((route) => `${route.method} ${route.path}`)
    const told = operations.map(({ name }) => name.replaceAll(/\{(\w+)\}/g, ':$1'))
    expect(told.sort()).toEqual([...served, 'GET /events/stream', 'GET /openapi.json'].sort())
  })

  it('says of every route in words what it does', () => {
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
    const parts = nodes.filter(({ at }) => /\/(parameters|headers)\/[^/]+$|\/responses\/[^/]+$/.test(at))
    const all = [...fields, ...named, ...parts.map(({ at, node }) => [at, node] as const)]
    // The envelope speaks for itself.
    const silent = all.filter(
      ([at, node]) => !at.endsWith('schema/data') && !node.description && !follow(node as { $ref?: string })?.description,
    )
    expect(silent.map(([at]) => at)).toEqual([])
    expect(all.length).toBeGreaterThan(500)
  })

  it('lets nothing in an address be null', () => {
    const inAddress = nodes.filter(({ node }) => (node.in as unknown) === 'query').map(({ at, node }) => [at, node.schema?.type])
    expect(inAddress.filter(([, type]) => Array.isArray(type))).toEqual([])
    expect(inAddress.length).toBeGreaterThan(20)
  })

  it('gives every record a name, and has each once', () => {
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

  it('calls operations what the graph calls them', () => {
    const fields = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((type) =>
      Object.keys(type?.getFields() ?? {}),
    )
    const apart = operations.map(({ operation }) => operation.operationId).filter((id) => !fields.includes(id))
    expect(apart.sort()).toEqual([
      'billingUsage',
      'bulkJobProgress',
      'contactGroupMembers',
      'downloadMedia',
      'groupsOfContact',
      'instanceHealth',
      'openapi',
      'publishStatus',
      'streamEvents',
      'uploadMedia',
      'webhookDeliveries',
    ])
  })

  it('shows records as they are', () => {
    const shown = Object.entries(document.components.schemas as Record<string, { examples?: unknown[] }>)
    const examples = shown.flatMap(([name, { examples = [] }]) => examples.map((example) => [name, example] as const))
    for (const [name, example] of examples) expectRecord(name, example)
    expect(examples.length).toBeGreaterThan(10)
  })

  it('refers to nothing that is not there, and has nothing that is referred to nowhere', () => {
    const refs = nodes.flatMap(({ node }) => (typeof node.$ref === 'string' ? [node.$ref as string] : []))
    expect(refs.filter(($ref) => !follow({ $ref }))).toEqual([])
    const kept = Object.entries(document.components).filter(([kind]) => kind !== 'securitySchemes')
    const held = kept.flatMap(([kind, parts]) => Object.keys(parts).map((name) => `#/components/${kind}/${name}`))
    expect(held.filter(($ref) => !refs.includes($ref))).toEqual([])
  })
})

describe('of errors, the document', () => {
  it('has codes of the table alone, each under its status', () => {
    const told = Object.values(document.components.responses).flatMap((response) =>
      [...nodesOf(response)].filter(({ at }) => at.endsWith('/code/enum')).map(({ node }) => node as unknown as string[]),
    )
    const codes = [...new Set(told.flat())]
    expect(codes.filter((code) => !Object.hasOwn(errors, code))).toEqual([])
    for (const { operation, name } of operations) {
      for (const [status, response] of Object.entries(operation.responses) as [string, { $ref?: string }][]) {
        const group = response.$ref?.split('/').at(-1)?.split('.') ?? []
        for (const code of group) expect(errors[code as keyof typeof errors].status, `${name} ${code}`).toBe(Number(status))
      }
    }
  })

  it('has those that every route with a key can give', () => {
    for (const { operation, name } of operations.filter((one) => one.at !== '/openapi.json')) {
      // Every key may read the catalogue.
      const refused = name === 'GET /billing/plans' ? [] : ['403']
      expect(Object.keys(operation.responses), name).toEqual(expect.arrayContaining(['401', ...refused, '429', '500', '503']))
    }
  })
})

describe('of events, the document', () => {
  it('shows a cursor as they are', () => {
    const stream = document.paths['/events/stream']?.get?.responses[200] as unknown as Json
    const [, cursor] = String(stream.content?.['text/event-stream']?.example).match(/^id: (.*)$/m) as RegExpMatchArray
    expect(encodeCursor(decodeCursor(cursor as string, 'id'))).toBe(cursor)
  })

  it('has each kind, with what it carries and how it is signed', () => {
    const webhooks = document.webhooks as unknown as Record<
      string,
      { post: { parameters: { name: string; required: boolean }[] } }
    >
    expect(Object.keys(webhooks)).toEqual([...eventTypes])
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

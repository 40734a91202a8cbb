// Proves that whatever the OpenAPI document allows is accepted, on both surfaces, and that its effect can be read back.
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import type { Schema } from '../../rest-compat/openapi/zod.ts'
import type { Route } from '../../rest-compat/route.ts'
import { wordOf } from '../../src/suppressions/input.ts'
import type { Api } from '../kit/api.ts'
import {
  type Asked,
  addressOf,
  askGraph,
  askRest,
  type Decision,
  graphDecision,
  restDecision,
  rows,
} from '../rest-compat/both.ts'
import { operationOf, paramsOf } from '../rest-compat/shown.ts'
import type { Things } from '../rest-compat/things.ts'
import { type Known, presentFor } from './arbitrary.ts'
import { openCaller, openSite, type Site } from './callers.ts'
import { knownIn } from './rules.ts'
import { runs } from './runs.ts'

let site: Site

beforeAll(async () => {
  site = await openSite()
})

type Surface = 'REST' | 'the graph'

/** Over REST, the body has one additional unknown field. */
async function decide(api: Api, surface: Surface, row: Route, asked: Asked): Promise<Decision> {
  const body = asked.body && { ...asked.body, nonsense: [{ id: '5' }] }
  if (surface === 'REST') return restDecision(await askRest(api, row, { ...asked, body }))
  return graphDecision(row, asked, await askGraph(api, row, asked))
}

const surface = fc.constantFrom<Surface>('REST', 'the graph')

/** An accepted request, and what it answered. */
interface Done {
  row: Route
  asked: Asked
  data: Record<string, unknown>
  things: Things
}

/** Reads one resource, or a list of them, over REST. */
async function read(api: Api, path: string): Promise<unknown> {
  const { status, body } = await api.get(path.slice(1))
  expect({ path, status }).toEqual({ path, status: 200 })
  return body.data
}

/**
 * Expects that a created resource can be read at its own address, as answered and as requested, and in the list; then deletes
 * it.
 */
async function expectKept(api: Api, { row, asked, data }: Done): Promise<void> {
  const isNew = row.status === 201
  const collection = row.path.replace(/^\/messages\/.*|.*\/sandbox\/inbound$/, '/messages')
  const address = isNew ? `${collection}/${data.id}` : addressOf(row.path, asked)
  // A secret is shown only once.
  const { secret: _, ...record } = data
  const hasAddress = row.method === 'PUT' || rows.some(({ method, path }) => method === 'GET' && path === `${collection}/:id`)
  // A record that is read alone may have more fields.
  if (hasAddress) expect(await read(api, address)).toMatchObject(record)
  expect(record).toMatchObject(saidOf(asked.body as Record<string, unknown>, record))
  if (!isNew) return
  const page = (await read(api, collection)) as Record<string, unknown>
  const items = Array.isArray(page) ? page : Object.values(page).find(Array.isArray)
  expect(items).toContainEqual(record)
  if (rows.some(({ method, path }) => method === 'DELETE' && path === `${collection}/:id`)) {
    expect((await api.delete(address.slice(1))).status).toBe(200)
  }
}

/** The fields of a body that its record has too. A message has a file only where its type has one. */
function saidOf(body: Record<string, unknown>, record: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(body).filter((name) => name in record && body[name] !== null && name !== 'mediaUrl')
  return Object.fromEntries(names.map((name) => [name, keptAs(name, body[name])]))
}

/** A field as its record has it: without duplicates, and with the values of `custom` as texts. */
function keptAs(name: string, value: unknown): unknown {
  if (name === 'tags') return [...new Set(value as string[])]
  if (name === 'keywords') return [...new Map((value as string[]).map((keyword) => [wordOf(keyword), keyword])).values()]
  if (name !== 'custom') return value
  const given = Object.entries(value as Record<string, unknown>).filter(([, one]) => one !== null)
  return Object.fromEntries(given.map(([key, one]) => [key, String(one)]))
}

async function expectMembers(api: Api, { row, asked, things }: Done, areThere: boolean): Promise<void> {
  const { contacts } = (await read(api, addressOf(row.path, asked))) as { contacts: { id: string }[] }
  const { contactIds } = asked.body as { contactIds: string[] }
  for (const id of [things.contacts, things.contactId].filter((own) => contactIds.includes(own))) {
    expect(contacts.some((contact) => contact.id === id)).toBe(areThere)
  }
}

/** Checks for routes that neither create nor change a single resource. */
const marks: Record<string, (api: Api, done: Done) => Promise<void>> = {
  'POST /messages/bulk': async (api, { asked, data }) => {
    const { accepted, rejected } = data as { accepted: { id: string }[]; rejected: unknown[] }
    expect(rejected).toEqual([])
    expect(accepted).toHaveLength((asked.body as { messages: unknown[] }).messages.length)
    for (const { id } of accepted) await read(api, `/messages/${id}`)
  },
  'POST /contacts/groups/:groupId/members': (api, done) => expectMembers(api, done, true),
  'DELETE /contacts/groups/:groupId/members': (api, done) => expectMembers(api, done, false),
}

const named = (some: readonly Route[]) => some.map((row) => [`${row.method} ${row.path}`, row] as const)
const bodySchema = (row: Route) => operationOf(row).requestBody?.content['application/json'].schema

it.each(named(rows.filter(bodySchema)))('%s accepts every body that the document allows, and stores it', async (name, row) => {
  // A separate caller for each route, so that no other route deletes the resources that it names.
  const { api, things } = await openCaller(site)
  const params = paramsOf(row, things)
  const bodies = presentFor(bodySchema(row) as Schema, knownIn(things))
  const promise = fc.asyncProperty(surface, bodies, async (where, body) => {
    const { code, message, data } = await decide(api, where, row, { params, body })
    expect({ code, message }).toEqual({ code: null, message: null })
    const done = { row, asked: { params, body }, data: data as Record<string, unknown>, things }
    if (row.status === 201 || row.method === 'PUT') await expectKept(api, done)
    if ('jobId' in done.data) await read(api, `/contacts/bulk-jobs/${done.data.jobId}`)
    else await marks[name]?.(api, done)
  })
  await fc.assert(promise, runs())
})

it.each(named(rows.filter(({ query, method }) => query && method === 'GET')))(
  '%s accepts every query that the document allows, page by page',
  async (_, row) => {
    const { api, things } = await openCaller(site)
    const params = paramsOf(row, things)
    const promise = fc.asyncProperty(surface, queriesOf(row, knownIn(things)), async (where, query) => {
      const first = await decide(api, where, row, { params, query })
      expect({ code: first.code, message: first.message }).toEqual({ code: null, message: null })
      const { nextCursor } = first.data as { nextCursor: string | null }
      if (nextCursor === null) return
      const second = await decide(api, where, row, { params, query: { ...query, cursor: nextCursor } })
      expect(second.code).toBeNull()
    })
    await fc.assert(promise, runs())
  },
)

/** Query parameters as text. The cursor comes from the previous page. */
function queriesOf(row: Route, known: Known): fc.Arbitrary<Record<string, string>> {
  const outcome = operationOf(row).parameters?.filter((one) => one.in === 'query' && one.name !== 'cursor') ?? []
  const fields = Object.fromEntries(
    outcome.map(({ name, schema }) => [name, presentFor(schema as Schema, known, name).map(String)]),
  )
  const required = outcome.filter((one) => one.required).map(({ name }) => name as string)
  return fc.record(fields, { requiredKeys: required, noNullPrototype: true }) as fc.Arbitrary<Record<string, string>>
}

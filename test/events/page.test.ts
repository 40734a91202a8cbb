// The event log in GraphQL: read in pages, with the objects that each event refers to.
import { createSourceEventStream, parse } from 'graphql'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { createPrepare } from '../../src/events/live/operation.ts'
import { emit } from '../../src/events/log/emit.ts'
import { readAfter } from '../../src/events/log/log.sql.ts'
import { createGraph } from '../../src/http/graph.ts'
import { schema } from '../../src/schema.ts'
import { type Api, api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { contextFor } from '../messages/rig.ts'
import { graphqlUrl, happen, type LiveRig, openLiveRig, plainUrl } from './live-rig.ts'
import { newEvent, openApp, openRelay, upTo } from './rig.ts'
import { openSse } from './sse.ts'

let live: LiveRig
let graph: Api['graphql']

beforeAll(async () => {
  live = await openLiveRig()
  const { account, databaseUrl, gateway, place } = live
  graph = api(gateway, account.apiKey).graphql
  await happen(live, 25)
  await emit(sql(databaseUrl), [newEvent(place, 25, 'message.read'), newEvent({ ...place, workspaceId: newId() }, 26)])
  await until(async () => (await numbersOf({ last: 1 }))[0] === 25)
})

const pages = `query ($first: Int, $last: Int, $after: String, $before: String, $types: [EventType!]) {
  events(first: $first, last: $last, after: $after, before: $before, types: $types) {
    edges { cursor node { cursor payload } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount
  }
}`

async function page(variables: Record<string, unknown>) {
  const { body } = await graph(pages, variables)
  expect(body.errors).toBeUndefined()
  return body.data.events
}

async function numbersOf(variables: Record<string, unknown>): Promise<number[]> {
  return (await page(variables)).edges.map(({ node }: { node: { payload: { n: string } } }) => Number(node.payload.n))
}

describe('the events of a workspace', () => {
  it('come page by page in the order in which they happened, without those of other workspaces', async () => {
    const seen: number[] = []
    let after: string | null = null
    for (let more = true; more; ) {
      const { edges, pageInfo } = await page({ first: 10, after })
      seen.push(...edges.map((edge: { node: { payload: { n: string } } }) => Number(edge.node.payload.n)))
      for (const edge of edges) expect(edge.cursor).toBe(edge.node.cursor)
      expect(pageInfo.hasPreviousPage).toBe(after !== null)
      after = pageInfo.endCursor
      more = pageInfo.hasNextPage
    }
    expect(seen).toEqual(upTo(26))
  })

  it('can be read backwards from the end, and by type', async () => {
    const last = await page({ last: 3 })
    expect(await numbersOf({ last: 3 })).toEqual([23, 24, 25])
    expect(last.pageInfo).toMatchObject({ hasPreviousPage: true, hasNextPage: false })
    expect(await numbersOf({ last: 2, before: last.pageInfo.startCursor })).toEqual([21, 22])
    expect(await numbersOf({ types: ['message_read'] })).toEqual([25])
  })

  it('have cursors that work for streams too, and accept the cursors of streams', async () => {
    const { edges } = await page({ first: 24 })
    const stream = await openSse(plainUrl(live, `?after=${edges.at(-1).cursor}`), { headers: live.key })
    await until(() => stream.events.length === 2)
    expect(await numbersOf({ after: stream.events[0]?.id })).toEqual([25])
  })

  it('have an end cursor even on an empty page, so that a reader that goes on from there misses nothing', async () => {
    const { edges, pageInfo } = await page({ last: 1, types: ['message_failed'] })
    expect([edges, pageInfo.startCursor]).toEqual([[], null])
    const { place, databaseUrl } = live
    await emit(sql(databaseUrl), [newEvent(place, 26, 'message.failed')])
    await until(async () => (await numbersOf({ last: 1 }))[0] === 26)
    const stream = await openSse(plainUrl(live, `?after=${pageInfo.endCursor}`), { headers: live.key })
    await until(() => stream.events.length === 1)
    expect(await numbersOf({ after: pageInfo.endCursor, types: ['message_failed'] })).toEqual([26])
    const { pageInfo: last } = await page({ after: stream.events[0]?.id })
    expect(last.endCursor).toBe(stream.events[0]?.id)
    const first = await page({ first: 1 })
    expect((await page({ last: 1, before: first.pageInfo.startCursor })).pageInfo.endCursor).toBeNull()
  })

  it.each([
    [{ first: 0 }, 'first: must be between 1 and 100'],
    [{ first: 101 }, 'first: must be between 1 and 100'],
    [{ last: -1 }, 'last: must be between 1 and 100'],
    [{ first: 1, last: 1 }, 'last: cannot be given together with first'],
    [{ after: 'x' }, 'after: is not an event cursor'],
    [{ before: 'x' }, 'before: is not an event cursor'],
    [{ types: [] }, 'types: must have at least 1 item'],
  ])('cannot be read with %o', async (variables, message) => {
    const { body } = await graph(pages, variables)
    expect(body.errors[0]).toMatchObject({ message, extensions: { code: 'VALIDATION_ERROR' } })
  })
})

describe('a subscription to events', () => {
  it('reads the objects that events refer to with a constant number of SQL statements', async () => {
    const { account, databaseUrl, place } = live
    const app = await openApp(databaseUrl)
    await openRelay(app)
    const { userId, workspaceId } = account
    const ids = Array.from({ length: 40 }, newId)
    await app.pool.query(
      `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, warnings, safety)
       select id, $2, $3, $4, 'text', '+4915112345678', '+4915112345678', 'hi', '{}', '{}' from unnest($1::uuid[]) id`,
      [ids, workspaceId, userId, place.instanceId],
    )
    await emit(
      app.pool,
      ids.map((messageId, n) => ({ ...newEvent(place, 100 + n), messageId })),
    )
    const events = await until(async () => {
      const { events: found } = await readAfter(app.pool, workspaceId, {}, { after: 0n, limit: 40, order: 'desc' })
      return found[0]?.messageId === ids.at(-1) && found
    })
    const context = contextFor(app, account)
    const prepare = createPrepare(createGraph(app, schema))
    const query = 'subscription { events { id message { id body instance { id name } } instance { id } } }'
    const prepared = await prepare({ query }, context)
    if (prepared.kind !== 'log') throw new Error(JSON.stringify(prepared))
    const statements = vi.spyOn(app.pool, 'query')
    const cost = async (count: number) => {
      const before = statements.mock.calls.length
      const entries = await prepared.view.render(events.slice(0, count))
      expect(entries.map(({ body }) => JSON.parse(body).data.events.message?.id)).toEqual(
        events.slice(0, count).map((event) => event.messageId),
      )
      return statements.mock.calls.length - before
    }
    const one = await cost(1)
    expect(await cost(40)).toBe(one)
    expect(one).toBeGreaterThan(0)
    expect(one).toBeLessThanOrEqual(4)
  })

  it('cannot run outside a stream', async () => {
    const { body } = await graph('subscription { events { id } }')
    expect(body.errors[0].extensions.code).toBe('VALIDATION_ERROR')
    const following = await createSourceEventStream({
      schema,
      document: parse('subscription { events { id } }'),
      contextValue: { app: { db: {} }, principal: { workspaceId: live.place.workspaceId } },
    })
    expect(() => (following as AsyncIterable<unknown>)[Symbol.asyncIterator]()).toThrow('Accept: ')
  })
})

describe('the state of an instance', () => {
  it('is sent at once and at each change, until the instance is deleted', async () => {
    const id = (await graph('mutation { createInstance(input: { name: "New" }) { id } }')).body.data.createInstance.id
    const stream = await openSse(graphqlUrl(live), {
      headers: live.key,
      body: { query: 'subscription ($id: ID!) { instanceState(id: $id) { status connected } }', variables: { id } },
    })
    const statuses = () => stream.events.flatMap(({ data }) => (data ? [JSON.parse(data).data?.instanceState?.status] : []))
    await until(() => statuses().length === 1)
    expect(statuses()).toEqual(['created'])
    await graph(`mutation { connectInstance(id: "${id}") { status } }`)
    await until(() => statuses().at(-1) === 'connected')
    await graph(`mutation { logoutInstance(id: "${id}") { status } }`)
    await until(() => statuses().at(-1) === 'logged_out')
    await graph(`mutation { deleteInstance(id: "${id}") { id } }`)
    await until(() => stream.ended)
    expect(stream.events.at(-1)?.event).toBe('complete')
    expect(JSON.parse(stream.events.at(-2)?.data ?? '').errors[0].extensions.code).toBe('NOT_FOUND')
  })
})

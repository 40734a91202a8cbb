// Cursors in every way of reading events: bound to the workspace, silent about others, with the old format for 30 days.
import { beforeAll, describe, expect, it } from 'vitest'
import { createSealer } from '../../src/core/seal.ts'
import { distinctFrame } from '../../src/events/live/frames.ts'
import { openCursor } from '../../src/events/log/cursor.ts'
import { emit } from '../../src/events/log/emit.ts'
import { type Account, connectedInstance, createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { secretKey } from '../kit/environment.ts'
import { until } from '../kit/until.ts'
import { countedView, openHub } from './hub-rig.ts'
import {
  graphqlNumbers,
  graphqlUrl,
  happen,
  type LiveRig,
  openGraphql,
  openLiveRig,
  openPlain,
  plainUrl,
  subscription,
} from './live-rig.ts'
import { emitMany, newEvent, newPlace, plainNumbers, wholeLog } from './rig.ts'
import { openSse } from './sse.ts'

let live: LiveRig
let other: LiveRig

/** Emits our events one at a time, and seven events of another account before each. */
beforeAll(async () => {
  live = await openLiveRig()
  const account: Account = await createAccount(live.databaseUrl)
  const { id: instanceId } = await connectedInstance(live.databaseUrl, account)
  other = {
    ...live,
    account,
    place: { workspaceId: account.workspaceId, instanceId },
    key: { 'x-api-key': account.apiKey },
  }
  for (let n = 0; n < 6; n++) {
    await happen(other, 7, 7 * n)
    await happen(live, 1, n)
  }
  await until(async () => (await pageOf(live)).length === 6)
})

const query =
  'query ($after: String, $before: String) { events(after: $after, before: $before) { edges { cursor node { payload } } pageInfo { endCursor } } }'

async function ask({ gateway, account }: LiveRig, variables: Record<string, unknown> = {}) {
  return (await api(gateway, account.apiKey).graphql(query, variables)).body
}

async function pageOf(of: LiveRig, variables: Record<string, unknown> = {}): Promise<{ cursor: string; n: number }[]> {
  const { data } = await ask(of, variables)
  return data.events.edges.map((edge: { cursor: string; node: { payload: { n: string } } }) => {
    return { cursor: edge.cursor, n: Number(edge.node.payload.n) }
  })
}

/** Each way to resume after a cursor. It returns the events after the cursor, or the error. */
const ways: Record<
  string,
  (of: LiveRig, cursor: string, count: number) => Promise<{ numbers?: number[]; cursors?: unknown[]; refused?: string }>
> = {
  async pages(of, cursor) {
    const { data, errors } = await ask(of, { after: cursor })
    if (errors) return { refused: `${errors[0].extensions.code} ${errors[0].message}` }
    const { edges } = data.events
    return {
      numbers: edges.map((edge: { node: { payload: { n: string } } }) => Number(edge.node.payload.n)),
      cursors: edges.map((edge: { cursor: string }) => edge.cursor),
    }
  },
  async 'a subscription'(of, cursor, count) {
    const stream = await openGraphql(of, cursor)
    await until(() => stream.events.length >= count)
    const [first] = stream.events
    const { errors } = JSON.parse(first?.data || '{}')
    if (errors) return { refused: `${errors[0].extensions.code} ${errors[0].message}` }
    const sent = stream.events.map(({ data }) => JSON.parse(data ?? '').data.events.cursor)
    expect(stream.events.map(({ id }) => id)).toEqual(sent)
    return { numbers: graphqlNumbers(stream), cursors: sent }
  },
  async 'a subscription that comes back'(of, cursor, count) {
    const headers = { ...of.key, 'last-event-id': cursor }
    const stream = await openSse(graphqlUrl(of), { headers, body: { query: subscription } })
    await until(() => stream.events.length >= count)
    const { errors } = JSON.parse(stream.events[0]?.data || '{}')
    if (errors) return { refused: `${errors[0].extensions.code} ${errors[0].message}` }
    return { numbers: graphqlNumbers(stream), cursors: stream.events.map(({ id }) => id) }
  },
  async 'a plain stream'(of, cursor, count) {
    const stream = await openSse(plainUrl(of, `?after=${cursor}`), { headers: of.key })
    if (stream.status !== 200) return await refusalOf(stream)
    await until(() => stream.events.length >= count)
    return { numbers: plainNumbers(stream), cursors: stream.events.map(({ id }) => id) }
  },
  async 'an EventSource that comes back'(of, cursor, count) {
    const stream = await openPlain(of, cursor)
    if (stream.status !== 200) return await refusalOf(stream)
    await until(() => stream.events.length >= count)
    return { numbers: plainNumbers(stream), cursors: stream.events.map(({ id }) => id) }
  },
}

async function refusalOf(stream: { status: number | undefined; text: string; ended: boolean }): Promise<{ refused: string }> {
  await until(() => stream.ended)
  const { code, message } = JSON.parse(stream.text).error
  expect(stream.status).toBe(400)
  return { refused: `${code} ${message}` }
}

describe.each(Object.entries(ways))('resuming by %s', (_, resume) => {
  it('starts right after the cursor, and yields the same cursors as a page', async () => {
    const page = await pageOf(live)
    const { numbers, cursors } = await resume(live, page[2]?.cursor as string, 3)
    expect(numbers).toEqual([3, 4, 5])
    expect(cursors).toEqual(page.slice(3).map(({ cursor }) => cursor))
  })

  it('refuses a cursor in another workspace, and one with a changed character', async () => {
    const cursor = (await pageOf(live))[2]?.cursor as string
    expect((await resume(other, cursor, 1)).refused).toMatch(/^VALIDATION_ERROR (after|Last-Event-ID): is not an event cursor$/)
    const changed = (cursor.startsWith('A') ? 'B' : 'A') + cursor.slice(1)
    expect((await resume(live, changed, 1)).refused).toMatch(/^VALIDATION_ERROR (after|Last-Event-ID): is not an event cursor$/)
  })

  it('accepts a cursor of the old format', async () => {
    const { rows } = await sql(live.databaseUrl).query<{ seq: string }>(
      'select seq from events where "workspaceId" = $1 order by seq',
      [live.place.workspaceId],
    )
    const old = Buffer.from(`e1:${rows[3]?.seq}`).toString('base64url')
    expect((await resume(live, old, 2)).numbers).toEqual([4, 5])
  })
})

it('reveals no sequence number in any cursor', async () => {
  const cursors = (await pageOf(live)).map(({ cursor }) => cursor)
  const stream = await openPlain(live)
  await until(() => stream.others.length > 0)
  for (const cursor of [...cursors, stream.others[0]?.id as string]) {
    const bytes = Buffer.from(cursor, 'base64url')
    // A cursor is exactly one sealed block of 16 bytes: a plain number beside it does not fit.
    expect([bytes.length, bytes.toString('latin1').startsWith('e1:')]).toEqual([16, false])
  }
})

it('keeps the position at the start of a stream and on an empty page, whatever happens in other workspaces', async () => {
  const sealer = createSealer(Buffer.from(secretKey, 'hex'))
  const { workspaceId } = live.place
  const sent = async () => {
    const stream = await openPlain(live)
    await until(() => stream.others.length > 0)
    const { data } = await ask(live, { after: (await pageOf(live)).at(-1)?.cursor })
    return [stream.others[0]?.id, data.events.pageInfo.endCursor].map((cursor) => {
      return openCursor(sealer, workspaceId, cursor as string)?.place?.seq
    })
  }
  const before = await sent()
  expect(before[0]).toBeDefined()
  await happen(other, 5, 100)
  await until(async () => (await pageOf(other)).at(-1)?.n !== 41)
  expect(await sent()).toEqual(before)
})

it('reports in heartbeats the progress of its own workspace, and nothing about others', async () => {
  const { app, databaseUrl, hub, place, open } = await openHub()
  let reached: (() => bigint | undefined) | undefined
  const view = { ...countedView(place, 'one kind'), filter: { types: ['message.read' as const] } }
  await open(async (writer) => {
    const followed = await hub.followLog(view, { writer, frame: distinctFrame, cursor: 0n, sent: { seq: 0n, mark: undefined } })
    reached = () => followed.reached()?.seq
    return followed
  })
  await emitMany(app.pool, place, 1)
  await until(() => reached?.() === 1n)
  const seen = new Set<bigint | undefined>()
  await emitMany(app.pool, newPlace(), 20)
  await until(async () => (await wholeLog(databaseUrl)).length === 21)
  await emit(app.pool, [newEvent(place, 30, 'message.failed')])
  await until(() => seen.add(reached?.()).has(22n))
  expect([...seen].filter((number) => number !== 1n && number !== 22n)).toEqual([])
})

// A filter that matches few of many events: readers find them, and no statement looks at more than a bounded part of the log.
import { beforeAll, describe, expect, it } from 'vitest'
import type { Sql } from '../../src/core/database/database.ts'
import { readAfter, windowSize } from '../../src/events/log/log.sql.ts'
import { findEvents } from '../../src/events/log/page.sql.ts'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { type LiveRig, openLiveRig, plainUrl } from './live-rig.ts'
import { openSse } from './sse.ts'

/** More than one page looks through. */
const count = 60_000
let live: LiveRig

/** The oldest event failed, the newest is read, and all others are sent. */
beforeAll(async () => {
  live = await openLiveRig()
  const { workspaceId, instanceId } = live.place
  const pool = sql(live.databaseUrl)
  await pool.query(
    `insert into events (seq, id, "workspaceId", type, "instanceId", payload, "createdAt")
     select n, gen_random_uuid(), $1, case n when 1 then 'message.failed' when $3 then 'message.read' else 'message.sent' end, $2,
       json_build_object('n', n::text), now() from generate_series(1, $3::int) n`,
    [workspaceId, instanceId, count],
  )
  await pool.query('analyze events')
  await pool.query('update event_sequence set last = $1', [count])
})

interface Events {
  nodes: { cursor: string; payload: { n: string } }[]
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null }
}

async function page(variables: Record<string, unknown>): Promise<Events> {
  const { body } = await api(live.gateway, live.account.apiKey).graphql(
    `query ($first: Int, $last: Int, $after: String, $before: String, $types: [EventType!]) {
      events(first: $first, last: $last, after: $after, before: $before, types: $types) {
        nodes { cursor payload } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
    variables,
  )
  expect(body.errors).toBeUndefined()
  return body.data.events
}

const numbersOf = ({ nodes }: Events) => nodes.map(({ payload }) => Number(payload.n))

describe('a page with a filter', () => {
  it('goes on behind its cursor, forward, until it finds what matches', async () => {
    const types = ['message_failed', 'message_read']
    const first = await page({ first: 1, types })
    expect(numbersOf(first)).toEqual([1])
    expect(first.pageInfo).toMatchObject({ hasNextPage: true, startCursor: first.nodes[0]?.cursor })
    const second = await page({ first: 2, types })
    expect(numbersOf(second)).toEqual([1])
    expect(second.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false })
    const third = await page({ first: 2, types, after: second.pageInfo.endCursor })
    expect(numbersOf(third)).toEqual([count])
    expect(third.pageInfo).toEqual({
      hasNextPage: false,
      hasPreviousPage: true,
      startCursor: third.nodes[0]?.cursor,
      endCursor: third.nodes[0]?.cursor,
    })
  })

  it('goes on before its cursor, backward, and ends where the log begins', async () => {
    const types = ['message_failed']
    const last = await page({ last: 5, types })
    expect([last.nodes, last.pageInfo.hasPreviousPage]).toEqual([[], true])
    const before = await page({ last: 5, types, before: last.pageInfo.startCursor })
    expect(numbersOf(before)).toEqual([1])
    expect(before.pageInfo).toMatchObject({ hasPreviousPage: false, hasNextPage: true })
    // Without a match, `endCursor` is the end of the log even so.
    expect(await page({ after: last.pageInfo.endCursor })).toMatchObject({ nodes: [], pageInfo: { hasNextPage: false } })
  })
})

it('a stream with a filter finds the newest event behind all others', async () => {
  const { pageInfo } = await page({ first: 1 })
  const url = plainUrl(live, `?types=message.read&after=${pageInfo.endCursor}`)
  const stream = await openSse(url, { headers: live.key })
  await until(() => stream.events.length === 1)
  expect(JSON.parse(stream.events[0]?.data ?? '').n).toBe(String(count))
})

interface Plan {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/** The rows of the log that the one statement of `run` looks at. */
async function lookedAt(run: (tx: Sql) => Promise<unknown>): Promise<number> {
  let looked = 0
  const add = (plan: Plan) => {
    const rows = (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
    if (plan['Relation Name']?.startsWith('events')) looked += rows
    for (const child of plan.Plans ?? []) add(child)
  }
  const pool = sql(live.databaseUrl)
  const explaining = async (text: string, values: unknown[]) => {
    const { rows } = await pool.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`explain (analyze, format json) ${text}`, values)
    for (const { Plan } of rows[0]?.['QUERY PLAN'] ?? []) add(Plan)
    return { rows: [] }
  }
  await run({ query: explaining } as unknown as Sql)
  return looked
}

it.each(['asc', 'desc'] as const)('one statement looks at a bounded part of the log, %s', async (order) => {
  const { workspaceId, instanceId } = live.place
  const range = { after: 0n, limit: 101, order }
  // Each event of the window once for its filter, and once more to find where the window ends.
  const most = 2 * windowSize + 1
  for (const filter of [{ types: ['message.cancelled'] }, { campaignId: instanceId }, { instanceId: workspaceId }]) {
    const looked = await lookedAt((tx) => findEvents(tx, workspaceId, filter, range))
    expect(looked).toBeGreaterThan(windowSize)
    expect(looked).toBeLessThanOrEqual(most)
    expect(await lookedAt((tx) => readAfter(tx, workspaceId, filter, range))).toBeLessThanOrEqual(most)
  }
  // The statement stops as soon as it has found enough events.
  const found = await lookedAt((tx) => readAfter(tx, workspaceId, { types: ['message.sent'] }, range))
  expect(found).toBeLessThanOrEqual(103)
  expect(await lookedAt((tx) => readAfter(tx, workspaceId, {}, range))).toBeLessThanOrEqual(101)
})

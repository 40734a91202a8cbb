// Reading deliveries: pages without gaps or repeats, and a constant number of SQL statements for any number of endpoints.
import { beforeAll, expect, it, vi } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { contextFor } from '../messages/rig.ts'
import { ask } from './ask.ts'
import { openReceiver, status } from './receiver.ts'
import { newRig, openRig, type Rig, settled } from './rig.ts'

/** The first interval between two attempts is a minute. */
let slow: App

beforeAll(async () => {
  slow = (await openRig({ env: { WEBHOOK_RETRY_BASE_SECONDS: '60' } })).app
})

const page = `query ($id: ID!, $first: Int, $after: String, $last: Int, $before: String, $status: DeliveryStatus) {
  webhook(id: $id) { deliveries(first: $first, after: $after, last: $last, before: $before, status: $status) {
    nodes { id event status attempts responseCode nextAttemptAt payload } pageInfo { endCursor startCursor hasNextPage }
  } }
}`

interface PageResult {
  nodes: { id: string; status: string; event: string; payload: { id: string } }[]
  pageInfo: { endCursor: string; startCursor: string; hasNextPage: boolean }
}

async function readPage(rig: Rig, variables: Record<string, unknown>): Promise<PageResult> {
  const { data, errors } = await ask(rig, page, variables)
  expect(errors).toBeUndefined()
  return (data as unknown as { webhook: { deliveries: PageResult } }).webhook.deliveries
}

it('lists deliveries in pages, newest first, with no gap or repeat while new ones arrive', async () => {
  const rig = await newRig(slow)
  const receiver = await openReceiver()
  const { id } = await rig.endpoint(receiver.url)
  await rig.emit(25)
  const rows = await settled(rig, id, 'delivered', 25)
  const seen: string[] = []
  let after: string | null = null
  do {
    const result: PageResult = await readPage(rig, { id, first: 10, after })
    seen.push(...result.nodes.map((node) => node.id))
    after = result.pageInfo.hasNextPage ? result.pageInfo.endCursor : null
    await rig.emit()
    await settled(rig, id, 'delivered', 25 + Math.ceil(seen.length / 10))
  } while (after)
  expect(seen).toEqual(rows.map((row) => row.id).reverse())
  const oldest = await readPage(rig, { id, last: 2 })
  expect(oldest.nodes.map((node) => node.id)).toEqual([rows[1]?.id, rows[0]?.id])
  const before = await readPage(rig, { id, last: 2, before: oldest.pageInfo.startCursor })
  expect(before.nodes.map((node) => node.id)).toEqual([rows[3]?.id, rows[2]?.id])
})

it('filters deliveries by status, and shows exactly the body that was sent', async () => {
  const rig = await newRig(slow)
  const receiver = await openReceiver(status(500))
  const { id } = await rig.endpoint(receiver.url)
  const [eventId] = await rig.emit()
  await settled(rig, id, 'retrying')
  const { nodes } = await readPage(rig, { id, first: 5, status: 'retrying' })
  expect(nodes).toMatchObject([{ event: 'message_sent', status: 'retrying', attempts: 1, responseCode: 500 }])
  expect(nodes[0]?.payload).toEqual(JSON.parse(receiver.requests[0]?.body ?? ''))
  expect(nodes[0]?.payload.id).toBe(eventId)
  expect((await readPage(rig, { id, first: 5, status: 'delivered' })).nodes).toEqual([])
})

it('refuses page sizes out of bounds and cursors of another list', async () => {
  const rig = await newRig(slow)
  const receiver = await openReceiver()
  const [one, two] = [await rig.endpoint(receiver.url), await rig.endpoint(receiver.url)]
  await rig.emit(3)
  await settled(rig, one.id, 'delivered', 3)
  const { pageInfo } = await readPage(rig, { id: one.id, first: 1 })
  const wrong = [
    { id: one.id, first: 0 },
    { id: one.id, first: 101 },
    { id: one.id, first: 1, after: 'nonsense' },
    { id: two.id, first: 1, after: pageInfo.endCursor },
    { id: one.id, first: 1, after: pageInfo.endCursor, status: 'failed' },
  ]
  for (const variables of wrong) {
    expect((await ask(rig, page, variables)).errors?.[0]?.extensions.code).toBe('VALIDATION_ERROR')
  }
})

it('takes the same number of SQL statements for one endpoint and for ten', async () => {
  const rig = await newRig(slow)
  // An app without workers, so that only the query runs statements on its pool.
  const { app } = await openRig({ databaseUrl: rig.app.config.databaseUrl as string, working: false })
  const ctx = contextFor(app, rig.account)
  const receiver = await openReceiver()
  const counts: number[] = []
  const text = '{ webhooks { id url deliveries(first: 3) { nodes { id payload } } } }'
  for (const endpoints of [1, 9]) {
    let last = ''
    for (let i = 0; i < endpoints; i++) last = (await rig.endpoint(receiver.url)).id
    await rig.emit(5)
    await settled(rig, last, 'delivered', 5)
    const statements = vi.spyOn(app.pool, 'query')
    const { data } = await ask({ ctx }, text)
    counts.push(statements.mock.calls.length)
    statements.mockRestore()
    const webhooks = (data as unknown as { webhooks: { deliveries: { nodes: { payload: object }[] } }[] }).webhooks
    for (const webhook of webhooks) expect(webhook.deliveries.nodes.filter((node) => node.payload)).toHaveLength(3)
  }
  expect(counts[0]).toBeGreaterThan(0)
  expect(counts[1]).toBe(counts[0])
})

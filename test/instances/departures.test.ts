// Safety counts a message when it leaves: what is scheduled counts for its own hour, what was cancelled never, on REST and in the graph.
import { beforeAll, expect, it } from 'vitest'
import { connectedInstance, type TestInstance } from '../kit/accounts.ts'
import type { Api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { atRest } from '../kit/invariants.ts'
import { openScene, type Scene } from '../kit/scene.ts'
import { until } from '../kit/until.ts'
import { bringForward } from '../messages/rig.ts'

const minuteMs = 60_000
const dayMs = 1_440 * minuteMs

let scene: Scene
let client: Api
let numbers = 0

beforeAll(async () => {
  scene = await openScene()
  client = scene.client()
})

async function young(): Promise<TestInstance> {
  return await connectedInstance(scene.databaseUrl, scene.account, { ageDays: 0 })
}

function text(instance: TestInstance, inMs?: number, to = `+393338${String(++numbers).padStart(3, '0')}5555`) {
  const scheduledAt = inMs === undefined ? undefined : new Date(Date.now() + inMs).toISOString()
  return { instanceId: instance.id, to, type: 'text', text: 'hello', scheduledAt }
}

async function schedule(instance: TestInstance, inMs: number, to?: string) {
  const { status, body } = await client.post('messages/schedule', text(instance, inMs, to))
  expect(status).toBe(201)
  return body.data
}

/** The health record by REST, which is that of the graph. */
async function health(instance: TestInstance) {
  const { body } = await client.get(`instances/${instance.id}/health`)
  const fields = `safetyState safetyScore usageWindowSummary { outbound1h outbound24h uniqueRecipients1h }
    warmupPolicy { hourlyOutboundCap dailyOutboundCap maxColdRatio }`
  const graph = await client.graphql(`{ instance(id: "${instance.id}") { health { ${fields} } } }`)
  const { safetyState, safetyScore, usageWindowSummary, warmupPolicy } = body.data
  expect({ safetyState, safetyScore, usageWindowSummary, warmupPolicy }).toMatchObject(graph.body.data.instance.health)
  return body.data
}

it('does not count what is scheduled for later, nor what was cancelled, and counts it when it leaves', async () => {
  const instance = await young()
  const later = []
  for (let i = 0; i < 8; i++) later.push(await schedule(instance, 30 * dayMs))
  expect(await health(instance)).toMatchObject({ safetyState: 'new', safetyScore: 100, usageWindowSummary: { outbound1h: 0 } })
  const now = await client.post('messages/send', { ...text(instance), scheduledAt: undefined })
  expect(now.body.data.safety.state).toBe('new')
  expect((await health(instance)).usageWindowSummary).toMatchObject({ outbound1h: 1, outbound24h: 1, uniqueRecipients1h: 1 })
  const cancelled = later.slice(0, 3)
  for (const { id } of cancelled) expect((await client.post(`messages/${id}/cancel`)).status).toBe(200)
  expect((await health(instance)).usageWindowSummary).toMatchObject({ outbound1h: 1 })
  await bringForward(
    scene.databaseUrl,
    later.slice(3).map(({ id }) => id),
  )
  await atRest(scene.databaseUrl)
  expect((await health(instance)).usageWindowSummary).toMatchObject({ outbound1h: 6, outbound24h: 6, uniqueRecipients1h: 6 })
})

it('counts what is queued to leave within the hour, in warnings and in the summary, and no longer once it is cancelled', async () => {
  const instance = await young()
  const to = '+393338777555'
  const ids: string[] = []
  for (let i = 0; i < 9; i++) ids.push((await schedule(instance, 30 * minuteMs, to)).id)
  expect((await health(instance)).usageWindowSummary).toMatchObject({ outbound1h: 9, uniqueRecipients1h: 1 })
  const send = async () => (await client.post('messages/send', text(instance, undefined, to))).body.data.warnings as string[]
  expect((await send()).join()).not.toContain('Outbound')
  expect(await send()).toContain('hourlyOutboundCap exceeded: 11 of 10')
  for (const id of ids) await client.post(`messages/${id}/cancel`)
  expect((await send()).join()).not.toContain('Outbound')
  expect((await health(instance)).usageWindowSummary.outbound1h).toBe(3)
})

it('judges a scheduled message for its own hour when it is accepted, and again when it leaves', async () => {
  const instance = await young()
  const to = '+393338778555'
  const judged = []
  for (let i = 0; i < 11; i++) judged.push(await schedule(instance, 2 * dayMs, to))
  expect(judged[9].warnings.join()).not.toContain('Outbound')
  expect(judged[10].warnings).toContain('hourlyOutboundCap exceeded: 11 of 10')
  const apart = await schedule(instance, 2.5 * dayMs, to)
  expect(apart.warnings.join()).not.toContain('hourly')
  const old = await schedule(instance, 20 * dayMs, to)
  expect([old.warnings.join(), old.safety.state]).toEqual([expect.not.stringContaining('Outbound'), 'stable'])
  const soon = await schedule(instance, 30 * minuteMs, to)
  expect(soon.warnings.join()).not.toContain('Outbound')
  for (let i = 0; i < 10; i++) await client.post('messages/send', text(instance, undefined, to))
  await bringForward(scene.databaseUrl, [soon.id])
  const record = await until(async () => {
    const { data } = (await client.get(`messages/${soon.id}`)).body
    return data.status === 'read' && data
  })
  expect(record.warnings).toContain('hourlyOutboundCap exceeded: 11 of 10')
  const graph = await client.graphql(`{ message(id: "${soon.id}") { warnings safety { decision state } } }`)
  expect(graph.body.data.message).toMatchObject({
    warnings: record.warnings,
    safety: { decision: 'warn', state: record.safety.state },
  })
})

it('calls nobody a stranger who wrote, or was written to, between the acceptance of a scheduled message and its time', async () => {
  const instance = await young()
  const known = ['+393338779555', '+393338780555']
  const scheduled = []
  for (const to of [...known, '+393338781555']) scheduled.push(await schedule(instance, 30 * dayMs, to))
  for (const { warnings } of scheduled) expect(warnings.join()).toContain('maxColdRatio')
  await sql(scene.databaseUrl).query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", direction, type, "to", peer, body, status, safety, "handedAt", "dueAt", "createdAt")
     select gen_random_uuid(), $1, $2, $3, d::direction, 'text', n, n, 'hello', s::message_status, '{}', case d when 'outbound' then at end, at, at
     from unnest($4::text[], array['inbound', 'outbound'], array['received', 'sent']) as u(n, d, s), lateral (select now() - interval '8 days' as at) x`,
    [scene.account.workspaceId, scene.account.userId, instance.id, known],
  )
  await bringForward(
    scene.databaseUrl,
    scheduled.map(({ id }) => id),
  )
  await atRest(scene.databaseUrl)
  const left = await Promise.all(scheduled.map(async ({ id }) => (await client.get(`messages/${id}`)).body.data))
  expect(left.map(({ warnings }) => warnings)).toEqual([[], [], [expect.stringContaining('maxColdRatio')]])
  expect((await health(instance)).safetyScore).toBe(87)
})

it('counts a message that the network never took in no window', async () => {
  const instance = await connectedInstance(scene.databaseUrl, scene.account, { ageDays: 0, status: 'disconnected' })
  const { body } = await client.post('messages/send', text(instance))
  await sql(scene.databaseUrl).query(
    `update messages set status = 'failed', error = 'EXPIRED', "failedAt" = now(), "countedPeriod" = null where id = $1`,
    [body.data.id],
  )
  expect((await health(instance)).usageWindowSummary).toMatchObject({ outbound1h: 0, outbound24h: 0 })
})

it('shows an instance at risk the caps that warnings use, never laxer than those of its age', async () => {
  const instance = await young()
  const sent = []
  for (let i = 0; i < 12; i++) sent.push((await client.post('messages/send', text(instance))).body.data)
  const record = await health(instance)
  expect(record.safetyState).toBe('at_risk')
  expect(record.warmupPolicy).toMatchObject({ hourlyOutboundCap: 10, dailyOutboundCap: 40, maxColdRatio: 0.1 })
  expect(sent[11].warnings).toContain('hourlyOutboundCap exceeded: 12 of 10')
  expect(sent[11].warnings).toContain(
    'maxColdRatio exceeded: 100 % of the recipients of 24 hours never wrote to you; at most 10 % should',
  )
})

// Safety as callers see it: the risk in the answer to a send, and the health record of an instance. No send is refused.
import { beforeAll, expect, it } from 'vitest'
import { connectedInstance, type TestInstance } from '../kit/accounts.ts'
import type { Api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { atRest } from '../kit/invariants.ts'
import { openScene, type Scene } from '../kit/scene.ts'

let scene: Scene
let client: Api
let numbers = 0

beforeAll(async () => {
  scene = await openScene()
  client = scene.client()
})

async function phone(ageDays: number): Promise<TestInstance> {
  return await connectedInstance(scene.databaseUrl, scene.account, { ageDays })
}

function number(ending = '5555'): string {
  return `+393338${String(++numbers).padStart(3, '0')}${ending}`
}

async function send(instance: TestInstance, to = number()) {
  const { status, body } = await client.post('messages/send', { instanceId: instance.id, to, type: 'text', text: 'hello' })
  expect(status).toBe(201)
  const { warnings, safety } = body.data
  return { warnings: warnings as string[], safety }
}

async function health(instance: TestInstance) {
  const { status, body } = await client.get(`instances/${instance.id}/health`)
  expect(status).toBe(200)
  return body.data
}

/** Adds a number that has written to the instance before, and returns it. */
async function acquaintance(instance: TestInstance): Promise<string> {
  const from = number()
  await sql(scene.databaseUrl).query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", direction, type, "from", "to", peer, body, status, "providerMessageId", safety)
     values (gen_random_uuid(), $1, $2, $3, 'inbound', 'text', $4, $5, $4, 'hi', 'received', gen_random_uuid(), '{}')`,
    [scene.account.workspaceId, scene.account.userId, instance.id, from, instance.waNumber],
  )
  return from
}

it('gives no warning for a stable instance within its caps', async () => {
  const instance = await phone(30)
  const to = await acquaintance(instance)
  for (let i = 0; i < 12; i++) {
    expect(await send(instance, to)).toEqual({
      warnings: [],
      safety: { decision: 'allow', riskLevel: 'low', state: 'stable', score: 100 },
    })
  }
})

it('warns about the eleventh message of a new instance in an hour, and sends it', async () => {
  const instance = await phone(0)
  const to = await acquaintance(instance)
  for (let i = 1; i <= 10; i++) expect((await send(instance, to)).warnings).toEqual([])
  const over = await send(instance, to)
  expect(over.warnings).toEqual(['hourlyOutboundCap exceeded: 11 of 10'])
  expect(over.safety).toMatchObject({ decision: 'warn', riskLevel: 'medium', state: 'new' })
  expect((await send(instance, to)).warnings).toEqual(['hourlyOutboundCap exceeded: 12 of 10'])
  await atRest(scene.databaseUrl)
  const { rows } = await sql(scene.databaseUrl).query(`select from messages where "instanceId" = $1 and status = 'read'`, [
    instance.id,
  ])
  expect(rows).toHaveLength(12)
})

it('warns about recipients that never wrote, and about too many of them', async () => {
  const instance = await phone(0)
  const outcome = []
  for (let i = 0; i < 11; i++) outcome.push(await send(instance))
  for (const { warnings, safety } of outcome) {
    expect(warnings).toContainEqual(
      expect.stringMatching(
        /^maxColdRatio exceeded: 100 % of the recipients of 24 hours never wrote to you; at most [12]0 % should$/,
      ),
    )
    expect(safety.decision).toBe('warn')
  }
  expect(outcome[4]?.warnings.join()).not.toContain('Recipients')
  expect(outcome[5]?.warnings).toContain('hourlyUniqueRecipientsCap exceeded: 6 of 5')
  expect(outcome[9]?.warnings.join()).not.toContain('Outbound')
  expect(outcome[10]?.warnings).toContain('hourlyOutboundCap exceeded: 11 of 10')
  expect(outcome[10]?.safety).toMatchObject({ riskLevel: 'high', state: 'at_risk' })
})

it.each<[number, string, number]>([
  [1, 'new', 10],
  [5, 'warming', 30],
  [20, 'stable', 200],
])('reports an instance of %s days as %s', async (days, state, hourlyOutboundCap) => {
  const record = await health(await phone(days))
  expect(record).toMatchObject({
    safetyState: state,
    safetyScore: 100,
    recommendations: [],
    warmupPolicy: { state, instanceAgeDays: days, hourlyOutboundCap },
  })
})

it('sums up the messages that an instance sent and received, and names the problem', async () => {
  const instance = await phone(20)
  expect((await health(instance)).usageWindowSummary).toEqual({
    outbound1h: 0,
    outbound24h: 0,
    uniqueRecipients1h: 0,
    uniqueRecipients24h: 0,
    inboundReplies24h: 0,
    inboundReplies7d: 0,
  })
  const friend = number('0006')
  for (const to of [friend, friend, number('0001'), number('0001')]) await send(instance, to)
  await atRest(scene.databaseUrl)
  await sql(scene.databaseUrl).query(
    `update messages set "createdAt" = now() - interval '2 days' where id = (select id from messages where "instanceId" = $1 and direction = 'inbound' limit 1)`,
    [instance.id],
  )
  const record = await health(instance)
  expect(record).toMatchObject({
    instanceId: instance.id,
    firstConnectedAt: expect.any(String),
    warmupPolicy: { instanceAgeDays: 20 },
  })
  expect(record.usageWindowSummary).toEqual({
    outbound1h: 4,
    outbound24h: 4,
    uniqueRecipients1h: 3,
    uniqueRecipients24h: 3,
    inboundReplies24h: 1,
    inboundReplies7d: 2,
  })
  // Half failed (minus 30), a quarter was answered (plus 2.5); two thirds are cold, which a stable instance may have.
  expect([record.safetyScore, record.safetyState]).toEqual([73, 'stable'])
  expect(record.recommendations).toEqual([expect.stringMatching(/fail/)])
})

it('counts a dropped connection for one day', async () => {
  const instance = await phone(20)
  await send(instance, number('0010'))
  await atRest(scene.databaseUrl)
  const dropped = await health(instance)
  expect([dropped.safetyScore, dropped.recommendations]).toEqual([50, expect.arrayContaining([expect.stringMatching(/dropped/)])])
  await sql(scene.databaseUrl).query(`update instances set disconnections = array[now() - interval '25 hours'] where id = $1`, [
    instance.id,
  ])
  expect((await health(instance)).recommendations.join()).not.toMatch(/dropped/)
})

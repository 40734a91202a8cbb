// Two gateways on one database get requests and do work at the same instant: everything happens once.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import type { Gateway } from '../kit/gateway.ts'
import { expectInvariants } from '../kit/invariants.ts'
import type { OpenGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { openStage, persist, plainNumber, type Stage, sendAll, text } from './rig.ts'

let stage: Stage
let nodes: [OpenGateway, OpenGateway]
let doomed: Gateway
const acknowledged: string[] = []

beforeAll(async () => {
  stage = await openStage()
  const started = await Promise.all([
    stage.open(),
    stage.start(),
    stage.start({ ROLES: 'http', FAILPOINT: 'api.after_commit_before_reply=kill' }),
  ])
  nodes = [started[0], started[1]]
  doomed = started[2]
})

it('answers a retry on another node with the first response when the first node died after the commit', async () => {
  const key = randomUUID()
  const body = text(stage.sure)
  const lost = await api(doomed, stage.account.apiKey)
    .post('messages/send', body, { 'idempotency-key': key })
    .catch((error: Error) => error)
  expect(lost).toBeInstanceOf(Error)
  expect((await doomed.exited).signal).toBe('SIGKILL')
  const [first, second] = await Promise.all(
    nodes.map((node) => persist(stage.account, () => node, 'messages/send', body, { key })),
  )
  expect([first?.status, second?.status]).toEqual([201, 201])
  expect([first, second].map((answer) => answer?.headers.get('idempotency-replayed'))).toEqual(['true', 'true'])
  expect(second?.body).toEqual(first?.body)
  const { rows } = await sql(stage.databaseUrl).query('select id from messages where "to" = $1', [body.to])
  expect(rows).toEqual([{ id: first?.body.data.id }])
  acknowledged.push(first?.body.data.id)
})

it('creates one message for fifty identical concurrent requests on two nodes', async () => {
  const key = randomUUID()
  const body = text(stage.blind)
  const post = (i: number) =>
    api(nodes[i % 2] as Gateway, stage.account.apiKey).post('messages/send', body, { 'idempotency-key': key })
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => post(i)))
  const created = answers.filter(({ status }) => status === 201)
  expect(created.filter(({ headers }) => headers.get('idempotency-replayed') !== 'true')).toHaveLength(1)
  expect(new Set(created.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    expect([answer.status, answer.body.error.code]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS'])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  }
  const { rowCount } = await sql(stage.databaseUrl).query('select from messages where "to" = $1', [body.to])
  expect(rowCount).toBe(1)
  acknowledged.push(created[0]?.body.data.id)
  const other = await api(nodes[0], stage.account.apiKey).post('messages/send', text(stage.blind), { 'idempotency-key': key })
  expect([other.status, other.body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
})

it('offers each of hundreds of messages once, including those scheduled for the same second', async () => {
  const scheduledAt = new Date(Math.ceil(Date.now() / 1000) * 1000 + 6_000).toISOString()
  const bodies = Array.from({ length: 300 }, (_, i) => {
    const body = text(i % 2 === 0 ? stage.sure : stage.blind)
    return i < 150 ? { ...body, scheduledAt } : body
  })
  const ids = (
    await Promise.all(
      [0, 1, 2].map((n) =>
        sendAll(
          stage.account,
          () => nodes[n % 2] as Gateway,
          bodies.filter((_, i) => i % 3 === n),
        ),
      ),
    )
  ).flat()
  acknowledged.push(...ids)
  await until(async () => (await sql(stage.databaseUrl).query(`select from messages where status <> 'read'`)).rowCount === 0)
  const { rows } = await sql(stage.databaseUrl).query<{ offers: number; n: number; early: number }>(
    `select s.offers, count(*)::int as n, count(*) filter (where s."acceptedAt" < m."scheduledAt")::int as early
     from messages m join sandbox_messages s on s.reference = m.id::text where m.id = any($1::uuid[]) group by 1`,
    [ids],
  )
  expect(rows).toEqual([{ offers: 1, n: 300, early: 0 }])
})

it('trusts receipts of messages if the answer to the offer was lost, and offers none of them again', async () => {
  const number = () => `${plainNumber().slice(0, -4)}0009`
  const bodies = [text(stage.sure, number()), text(stage.blind, number())]
  const ids = await sendAll(stage.account, () => nodes[0], bodies)
  acknowledged.push(...ids)
  await until(async () => {
    const { rows } = await sql(stage.databaseUrl).query(
      `select m.status, s.offers from messages m join sandbox_messages s on s.reference = m.id::text where m.id = any($1)`,
      [ids],
    )
    return rows.length === 2 && rows.every(({ status, offers }) => status === 'read' && offers === 1)
  })
})

it('keeps every invariant through all of that', async () => {
  await expectInvariants(stage.databaseUrl, { acknowledged, messages: acknowledged.length })
})

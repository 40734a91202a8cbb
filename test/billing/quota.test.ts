// The monthly outbound quota is exact over two processes, refunded for messages that never left, and equal to a recount.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTeam } from '../../src/teams/service.ts'
import { type Account, connectedInstance, createAccount, type TestInstance } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { prisma, sql } from '../kit/database.ts'
import type { Gateway } from '../kit/gateway.ts'
import { openScene, type Scene } from '../kit/scene.ts'
import { until } from '../kit/until.ts'
import { bringForward } from '../messages/rig.ts'

let scene: Scene

beforeAll(async () => {
  scene = await openScene({ gateways: 2 })
})

interface Sender {
  account: Account
  instance: TestInstance
}

/** A sender on the free plan with `left` of its 500 remaining, and an instance that is disconnected by default. */
async function sender(left: number, status: 'connected' | 'disconnected' = 'disconnected'): Promise<Sender> {
  const account = await createAccount(scene.databaseUrl, { plan: 'free' })
  await setUsed(account, 500 - left)
  return { account, instance: await connectedInstance(scene.databaseUrl, account, { status }) }
}

async function setUsed(account: Account, n: number): Promise<void> {
  await sql(scene.databaseUrl).query(
    `insert into usage ("userId", period, "messagesCount") values ($1, date_trunc('month', now() at time zone 'utc')::date, $2)
     on conflict ("userId", period) do update set "messagesCount" = $2`,
    [account.userId, n],
  )
}

async function used(account: Account): Promise<number> {
  const { rows } = await sql(scene.databaseUrl).query('select "messagesCount" as n from usage where "userId" = $1', [
    account.userId,
  ])
  return rows[0]?.n ?? 0
}

/** The usage recounted from the messages themselves. */
async function recount(account: Account): Promise<number> {
  const { rows } = await sql(scene.databaseUrl).query(
    `select count(*)::int as n from messages m join workspaces w on w.id = m."workspaceId" where w."ownerId" = $1 and m."countedPeriod" is not null`,
    [account.userId],
  )
  return rows[0]?.n as number
}

function client({ account }: Sender, n = 0) {
  return scene.client(n, account)
}

function message({ instance }: Sender, fields: Record<string, unknown> = {}) {
  return { instanceId: instance.id, to: '+4915112345655', type: 'text', text: 'Hello', ...fields }
}

const later = () => new Date(Date.now() + 3_600_000).toISOString()

async function messageOf(from: Sender, id: string) {
  return (await client(from).get(`messages/${id}`)).body.data
}

describe('the outbound quota', () => {
  it.each([1, 7])('with %i left admits exactly as many of 50 messages sent to two processes concurrently', async (left) => {
    const from = await sender(left)
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => client(from, i).post('messages/send', message(from))))
    const refused = answers.filter((answer) => answer.status !== 201)
    expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual(
      Array(50 - left).fill([429, 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED']),
    )
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect([await used(from.account), await recount(from.account)]).toEqual([500, left])
  })

  it('is shared by single sends, bulks and GraphQL', async () => {
    const from = await sender(10)
    const document = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { id } }'
    const [bulk, ...others] = await Promise.all([
      client(from).post('messages/bulk', { messages: Array.from({ length: 8 }, () => message(from)) }),
      ...Array.from({ length: 5 }, () => client(from, 1).post('messages/send', message(from))),
      ...Array.from({ length: 5 }, () => client(from, 1).graphql(document, { input: message(from) })),
    ])
    const sent = others.filter(({ body }) => body.data?.id ?? body.data?.sendMessage?.id).length
    expect(bulk.body.data.accepted.length + sent).toBe(10)
    const codes = new Set([
      ...bulk.body.data.rejected.map((item: { code: string }) => item.code),
      ...others.flatMap(({ body }) => body.error?.code ?? body.errors?.[0].extensions.code ?? []),
    ])
    expect(codes).toEqual(new Set(['MONTHLY_OUTBOUND_QUOTA_EXCEEDED']))
    expect(await recount(from.account)).toBe(10)
  })

  it("of a team's messages is the quota of its owner", async () => {
    const owner = await sender(3)
    const team = await createTeam(prisma(scene.databaseUrl), { ownerEmail: owner.account.email, name: 'Team' })
    const shared = await connectedInstance(
      scene.databaseUrl,
      { ...owner.account, workspaceId: team.workspaceId },
      { status: 'disconnected' },
    )
    const ours = api(scene.gateways[1] as Gateway, team.apiKey, { 'x-team-id': team.teamId })
    const sends = Array.from({ length: 10 }, (_, i) =>
      i % 2
        ? client(owner).post('messages/send', message(owner))
        : ours.post('messages/send', message({ ...owner, instance: shared })),
    )
    const answers = await Promise.all(sends)
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(3)
    expect([await used(owner.account), await recount(owner.account)]).toEqual([500, 3])
  })

  it('is refunded once for a cancelled message', async () => {
    const from = await sender(1)
    const { body } = await client(from).post('messages/send', message(from))
    expect((await client(from).post('messages/send', message(from))).status).toBe(429)
    const cancels = await Promise.all(
      [0, 1, 0, 1].map((process) => client(from, process).post(`messages/${body.data.id}/cancel`)),
    )
    expect(cancels.map((answer) => answer.status).sort()).toEqual([200, 409, 409, 409])
    expect([await used(from.account), await recount(from.account)]).toEqual([499, 0])
    expect((await client(from).post('messages/send', message(from))).status).toBe(201)
  })

  it('is refunded for a message that the network refuses, and not for one that fails in transit', async () => {
    const from = await sender(10, 'connected')
    const send = async (to: string) => (await client(from).post('messages/send', message(from, { to }))).body.data.id as string
    const [refused, undeliverable] = [await send('+4915112340001'), await send('+4915112340002')]
    await until(async () => (await messageOf(from, refused)).error === 'RECIPIENT_NOT_FOUND')
    await until(async () => (await messageOf(from, undeliverable)).error === 'UNDELIVERABLE')
    expect([await used(from.account), await recount(from.account)]).toEqual([491, 1])
  })

  it('is neither checked nor charged for an invalid message', async () => {
    const from = await sender(0)
    expect((await client(from).post('messages/send', message(from, { to: '5' }))).status).toBe(400)
    expect(await used(from.account)).toBe(500)
  })

  it.each([
    { left: 2, codes: [...Array(3).fill('NOT_FOUND'), 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED'] },
    { left: 3, codes: Array(3).fill('NOT_FOUND') },
    { left: 10, codes: Array(3).fill('NOT_FOUND') },
  ])('with $left left is not taken by messages of the same bulk that are refused', async ({ left, codes }) => {
    const from = await sender(left)
    const refused = message(from, { instanceId: randomUUID() })
    const messages = [refused, message(from), refused, message(from), refused, message(from)]
    const { accepted, rejected } = (await client(from).post('messages/bulk', { messages })).body.data
    expect(rejected.map(({ code }: { code: string }) => code)).toEqual(codes)
    expect(accepted.map(({ index }: { index: number }) => index)).toEqual([1, 3, 5].slice(0, left))
    const count = Math.min(left, 3)
    expect([await used(from.account), await recount(from.account)]).toEqual([500 - left + count, count])
  })
})

describe('a scheduled message', () => {
  it('is refused when no quota is left at the time of scheduling', async () => {
    const from = await sender(0)
    const answer = await client(from).post('messages/schedule', message(from, { scheduledAt: later() }))
    expect([answer.status, answer.body.error.code]).toEqual([429, 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED'])
  })

  it('counts when it is sent, not before, and its cancellation refunds nothing', async () => {
    const from = await sender(1, 'connected')
    const schedule = () => client(from).post('messages/schedule', message(from, { scheduledAt: later() }))
    const [far, near] = [await schedule(), await schedule()]
    expect([far.status, near.status, await used(from.account)]).toEqual([201, 201, 499])
    await bringForward(scene.databaseUrl, [near.body.data.id])
    await until(async () => (await messageOf(from, near.body.data.id)).status === 'read')
    expect([await used(from.account), await recount(from.account)]).toEqual([500, 1])
    expect((await client(from).post(`messages/${far.body.data.id}/cancel`)).status).toBe(200)
    expect(await used(from.account)).toBe(500)
  })

  it('fails with one event when the quota is used up at its due time', async () => {
    const from = await sender(1, 'connected')
    const schedule = () => client(from).post('messages/schedule', message(from, { scheduledAt: later() }))
    const ids = (await Promise.all([schedule(), schedule(), schedule()])).map(({ body }) => body.data.id as string)
    await bringForward(scene.databaseUrl, ids)
    const ended = await until(async () => {
      const rows = await Promise.all(ids.map((id) => messageOf(from, id)))
      return rows.every((row) => row.status === 'read' || row.status === 'failed') && rows
    })
    expect(ended.filter((row) => row.status === 'read')).toHaveLength(1)
    expect(ended.flatMap((row) => row.error ?? [])).toEqual(Array(2).fill('MONTHLY_OUTBOUND_QUOTA_EXCEEDED'))
    const failures = async () => {
      const { rows } = await sql(scene.databaseUrl).query(
        `select payload->>'error' as error from events where type = 'message.failed' and "messageId" = any($1)`,
        [ids],
      )
      return rows.length === 2 && rows
    }
    expect(await until(failures)).toEqual(Array(2).fill({ error: 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED' }))
    expect([await used(from.account), await recount(from.account)]).toEqual([500, 1])
  })
})

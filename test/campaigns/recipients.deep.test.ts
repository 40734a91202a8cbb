// The recipients of a campaign of 100,000: a page costs what it costs among 100, and the CSV of all takes no memory.
import { Readable } from 'node:stream'
import { beforeAll, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { measuredAgain } from '../kit/measured.ts'
import { residentBytes } from '../kit/resident.ts'
import { openProcessRig, type ProcessRig } from '../rest-compat/rig.ts'
import { campaignTo, expectCreated, numbers, statsOf } from './rig.ts'

const many = 100_000
let rig: ProcessRig
let small: string
let large: string

beforeAll(async () => {
  rig = await openProcessRig({ ROLES: 'http' })
  small = await sent(100)
  large = await sent(many)
  await sql(rig.databaseUrl).query('vacuum analyze campaign_recipients, messages')
})

/** A campaign whose messages were delivered, but every thousandth failed, and one recipient in a thousand has no message. */
async function sent(count: number): Promise<string> {
  const { api, instance } = rig.tenant
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  const id = expectCreated(await api.post('campaigns', campaignTo(instance.id, numbers(1), { scheduledAt })))
  const pool = sql(rig.databaseUrl)
  await pool.query('delete from campaign_recipients where "campaignId" = $1', [id])
  await pool.query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", "campaignId", type, "to", peer, body, status, safety, "acceptedAt", "updatedAt")
     select gen_random_uuid(), c."workspaceId", c."userId", c."instanceId", c.id, 'text', '+3933' || i, '+3933' || i, 'Hi',
       case when i % 1000 = 1 then 'failed' else 'delivered' end::message_status, '{}', now(), now() + i / 100 * interval '1 ms'
     from campaigns c, generate_series(1, $2) i where c.id = $1 and i % 1000 <> 2`,
    [id, count],
  )
  await pool.query(
    `insert into campaign_recipients ("campaignId", position, "to", status, "messageId")
     select $1, i, '+3933' || i, case when m.id is null then 'planned' else 'enqueued' end::recipient_status, m.id
     from generate_series(1, $2) i left join messages m on m."campaignId" = $1 and m."to" = '+3933' || i`,
    [id, count],
  )
  await pool.query('update campaigns set "recipientsCount" = $2 where id = $1', [id, count])
  return id
}

async function medianMs(path: string): Promise<number> {
  const taken: number[] = []
  for (let i = 0; i < 21; i++) {
    const begin = performance.now()
    expect((await rig.tenant.api.get(path)).status).toBe(200)
    taken.push(performance.now() - begin)
  }
  return taken.sort((a, b) => a - b)[10] as number
}

async function lastCursorOf(id: string, steps: number): Promise<string> {
  let cursor = ''
  for (let i = 0; i < steps; i++) {
    const query = `?limit=100${cursor && `&cursor=${cursor}`}`
    cursor = (await rig.tenant.api.get(`campaigns/${id}/recipients${query}`)).body.data.nextCursor
  }
  return cursor
}

it.each(['planned', 'failed', 'delivered', 'queued', 'cancelled'])(
  'a page of those that are %s costs about the same among 100,000',
  measuredAgain,
  async (status) => {
    const [few, all] = [
      await medianMs(`campaigns/${small}/recipients?status=${status}&limit=1`),
      await medianMs(`campaigns/${large}/recipients?status=${status}&limit=1`),
    ]
    console.log(`${status}: ${few.toFixed(1)} ms among 100, ${all.toFixed(1)} ms among ${many}`)
    expect(all).toBeLessThan(3 * few + 2)
  },
)

it('a page far behind costs what the first costs', measuredAgain, async () => {
  const cursor = await lastCursorOf(large, 300)
  const first = await medianMs(`campaigns/${large}/recipients?limit=100`)
  const later = await medianMs(`campaigns/${large}/recipients?limit=100&cursor=${cursor}`)
  expect(later).toBeLessThan(2 * first + 2)
})

it('the CSV of 100,000 has a line for each, in constant memory', measuredAgain, async () => {
  const { tenant, gateway } = rig
  await fetchCsv(small)
  const before = residentBytes(gateway.pid)
  let most = 0
  const lines = await fetchCsv(large, () => {
    most = Math.max(most, residentBytes(gateway.pid))
  })
  expect(lines).toBe(many + 1)
  console.log(`CSV: ${((most - before) / 1e6).toFixed(1)} MB more`)
  expect(most - before).toBeLessThan(100e6)
  expect((await statsOf(tenant.api, large)).stats.total).toBe(many)
})

async function fetchCsv(id: string, look = () => {}): Promise<number> {
  const { gateway, tenant } = rig
  const response = await fetch(`${gateway.url}/api/v1/campaigns/${id}/recipients.csv`, {
    headers: { 'x-api-key': tenant.account.apiKey },
  })
  let lines = 0
  for await (const chunk of Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0])) {
    for (const byte of chunk as Uint8Array) if (byte === 10) lines++
    look()
  }
  return lines
}

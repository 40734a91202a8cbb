// A message tells its way, what it waits for, and that it is late.
import { beforeAll, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openRig, type Rig, type Tenant, text } from '../rest-compat/rig.ts'

let rig: Rig
/** A tenant whose instance is disconnected. */
let asleep: Tenant

const document =
  'query ($id: ID!) { message(id: $id) { status stalled waitsFor { reason text until expiresAt } timeline { status at afterMs } } }'

beforeAll(async () => {
  rig = await openRig()
  const instance = await connectedInstance(rig.databaseUrl, rig.tenant.account, { status: 'disconnected' })
  asleep = { ...rig.tenant, instance }
})

async function read(id: string) {
  return (await rig.tenant.api.graphql(document, { id })).body.data.message
}

async function send(tenant: Tenant, fields: Record<string, unknown> = {}): Promise<string> {
  const path = 'scheduledAt' in fields ? 'messages/schedule' : 'messages/send'
  return (await tenant.api.post(path, text(tenant, fields))).body.data.id
}

it('measures each step of its way, and waits for nothing at its end', async () => {
  const id = await send(rig.tenant)
  const message = await until(async () => {
    const found = await read(id)
    return found.status === 'read' && found
  })
  expect(message).toMatchObject({ stalled: false, waitsFor: null })
  const { timeline } = message
  expect(timeline.map(({ status }: { status: string }) => status)).toEqual(['queued', 'sending', 'sent', 'delivered', 'read'])
  const since = timeline.map((step: { at: string }, i: number) => {
    return i === 0 ? 0 : Math.max(0, Date.parse(step.at) - Date.parse(timeline[i - 1].at))
  })
  expect(timeline.map(({ afterMs }: { afterMs: number }) => afterMs)).toEqual(since)
})

it('waits for its time, and then for its instance, and is stalled after a minute', async () => {
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  const day = 86_400_000
  expect(await read(await send(asleep, { scheduledAt }))).toMatchObject({
    status: 'queued',
    stalled: false,
    waitsFor: { reason: 'schedule', until: scheduledAt, expiresAt: new Date(Date.parse(scheduledAt) + day).toISOString() },
  })
  const id = await send(asleep)
  expect(await read(id)).toMatchObject({
    stalled: false,
    waitsFor: { reason: 'instance', until: null, text: 'Its instance is not connected.' },
  })
  await sql(rig.databaseUrl).query(`update messages set "dueAt" = now() - interval '61 seconds' where id = $1`, [id])
  expect(await read(id)).toMatchObject({ stalled: true, waitsFor: { reason: 'instance' } })
})

it('waits for the end of what the network asked for, and lists tell it too', async () => {
  const id = await send(asleep)
  const key = `instance ${asleep.instance.id}`
  await until(
    async () =>
      (await sql(rig.databaseUrl).query('select from messages where id = $1 and "waitingSince" is not null', [id])).rows[0],
  )
  await sql(rig.databaseUrl).query(`insert into send_holds (key, until) values ($1, now() + interval '1 hour')`, [key])
  await sql(rig.databaseUrl).query('update messages set "heldBy" = $2 where id = $1', [id, key])
  const query =
    'query ($filter: MessageFilter) { messages(filter: $filter, first: 1) { nodes { id stalled waitsFor { reason until } } } }'
  const { body } = await rig.tenant.api.graphql(query, { filter: { instanceId: asleep.instance.id } })
  expect(body.data.messages.nodes).toEqual([
    { id, stalled: false, waitsFor: { reason: 'instance_hold', until: expect.any(String) } },
  ])
})

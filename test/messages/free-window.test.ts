// The warning for free content to a number that has not written to a `cloud` instance in the last 24 hours.
import { beforeAll, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { changeState } from '../../src/instances/state.ts'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { receiveMessages } from '../../src/messages/receipts/inbound.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { createTemplate, newNumber, openRig, type Rig } from '../rest-compat/rig.ts'
import { openApp } from './rig.ts'

const warning = 'outside the 24-hour window: only an approved template reaches this number'
const text = { type: 'text', text: 'Hello' }
let rig: Rig
let app: App
let cloudId: string

beforeAll(async () => {
  rig = await openRig()
  app = await openApp(rig.databaseUrl)
  cloudId = await create('100')
})

async function create(phoneNumberId: string, businessAccountId = '2'): Promise<string> {
  const settings = { phoneNumberId, businessAccountId, accessToken: 'token', appSecret: 'secret' }
  return (await rig.tenant.api.post('instances', { name: 'Cloud', provider: 'cloud', settings })).body.data.id
}

/** A number that wrote to the instance so many hours ago. */
async function wrote(instanceId: string, hoursAgo: number): Promise<string> {
  const [from, providerMessageId] = [newNumber(), `wamid.${Math.random()}`]
  await receiveMessages(app, [
    { instanceId, providerMessageId, from, type: 'text', body: 'Hi', content: { kind: 'text' }, at: new Date() },
  ])
  await sql(rig.databaseUrl).query(
    `update messages set "createdAt" = now() - $2 * interval '1 hour' where "instanceId" = $1 and "providerMessageId" = $3`,
    [instanceId, hoursAgo, providerMessageId],
  )
  return from
}

interface Sent {
  id: string
  warnings: string[]
  safety: { decision: string }
}

async function send(to: string, fields: object = text, path = 'messages/send'): Promise<Sent> {
  const { status, body } = await rig.tenant.api.post(path, { instanceId: cloudId, to, ...fields })
  expect(status).toBe(201)
  return body.data
}

/** True if the message has the warning of the window; a new instance has others too. */
const isWarned = ({ warnings }: Pick<Sent, 'warnings'>) => warnings.includes(warning)

const inHours = (hours: number) => ({ ...text, scheduledAt: new Date(Date.now() + hours * 3_600_000).toISOString() })

it('warns of free content outside the window, and of nothing else', async () => {
  const other = await create('101')
  const [lately, longAgo, elsewhere] = [await wrote(cloudId, 23.9), await wrote(cloudId, 24.1), await wrote(other, 1)]
  expect(isWarned(await send(lately))).toBe(false)
  const outside = await send(longAgo)
  expect([isWarned(outside), outside.safety.decision]).toEqual([true, 'warn'])
  expect(isWarned(await send(elsewhere))).toBe(true)
  const cloud = { name: 'hello', language: 'en', parameters: [] }
  const [plain, approved] = [
    await createTemplate(rig.tenant, { body: 'Hi' }),
    await createTemplate(rig.tenant, { body: 'Hi', cloud }),
  ]
  expect(isWarned(await send(longAgo, { templateId: plain }))).toBe(true)
  expect(isWarned(await send(longAgo, { templateId: approved }))).toBe(false)
  expect(isWarned(await send(longAgo, { ...text, instanceId: rig.tenant.instance.id }))).toBe(false)
})

it('counts from when the person wrote, and not from when the network told it', async () => {
  const told = async (hoursAgo: number) => {
    const [from, providerMessageId] = [newNumber(), `wamid.${Math.random()}`]
    const at = new Date(Date.now() - hoursAgo * 3_600_000)
    await receiveMessages(app, [
      { instanceId: cloudId, providerMessageId, from, type: 'text', body: 'Hi', content: { kind: 'text' }, at },
    ])
    return from
  }
  expect(isWarned(await send(await told(23.9)))).toBe(false)
  const late = await told(24.1)
  expect(isWarned(await send(late))).toBe(true)
  const query = '{ messages(first: 100) { nodes { from content } } }'
  const { nodes } = (await rig.tenant.api.graphql(query)).body.data.messages
  expect(nodes).toContainEqual({ from: late, content: { kind: 'text' } })
})

it('judges a scheduled message for its hour, and again when it leaves', async () => {
  // An instance and an account without other messages: connecting would send those, and their failures would hold the account.
  const instanceId = await create('102', '3')
  const schedule = (to: string, hours: number) => send(to, { ...inHours(hours), instanceId }, 'messages/schedule')
  const lately = await wrote(instanceId, 12)
  expect(isWarned(await schedule(lately, 11))).toBe(false)
  const later = await schedule(lately, 13)
  expect([isWarned(later), later.safety.decision]).toEqual([true, 'warn'])
  await changeState(app, { instanceId, status: 'connected', waNumber: '+393330000001' })
  const leaves = async (id: string) => {
    await sql(rig.databaseUrl).query('update messages set "scheduledAt" = now(), "dueAt" = now() where id = $1', [id])
    await claimMessages(app, [id])
    return isWarned((await rig.tenant.api.get(`messages/${id}`)).body.data)
  }
  expect(await leaves(later.id)).toBe(false)
  const stranger = await schedule(newNumber(), 1)
  expect(await leaves(stranger.id)).toBe(true)
})

it('warns in a bulk and in a campaign', async () => {
  const [lately, stranger] = [await wrote(cloudId, 1), newNumber()]
  const messages = [lately, stranger].map((to) => ({ instanceId: cloudId, to, ...text }))
  const { accepted } = (await rig.tenant.api.post('messages/bulk', { messages })).body.data
  const warnings = async (where: string, value: unknown) =>
    (
      await sql(rig.databaseUrl).query<Sent & { to: string }>(`select "to", warnings from messages where ${where} order by id`, [
        value,
      ])
    ).rows.map((row) => [row.to, isWarned(row)])
  const expected = [
    [lately, false],
    [stranger, true],
  ]
  expect(
    await warnings(
      'id = any($1)',
      accepted.map(({ id }: { id: string }) => id),
    ),
  ).toEqual(expected)
  // The page after the first one waits until the instance is connected, so each number has a campaign of its own.
  for (const told of expected) {
    const recipients = [{ to: told[0] }]
    const { body } = await rig.tenant.api.post('campaigns', { instanceId: cloudId, name: 'News', ...text, recipients })
    const rows = await until(async () => {
      const found = await warnings('"campaignId" = $1', body.data.id)
      return found.length === 1 && found
    })
    expect(rows).toEqual([told])
  }
})

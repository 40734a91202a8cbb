// Numbers that are suppressed after a message was accepted, by keyword, by the network, or by hand: nothing leaves to them.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { until } from '../kit/until.ts'
import { bringForward } from '../messages/rig.ts'
import { campaign, expectRefusal, newNumber, newTenant, openRig, type Rig, type Tenant, text } from '../rest-compat/rig.ts'
import { listOf, numberEnding, settled, textFrom } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

const fresh = () => newTenant(rig.gateway, rig.databaseUrl)
const used = async ({ api }: Tenant) => (await api.get('usage')).body.data.messagesCount

describe('an inbound keyword', () => {
  it.each(['STOP', 'stop', ' Unsubscribe\n'])('%j adds its sender, once', async (word) => {
    const tenant = await fresh()
    const phone = newNumber()
    await textFrom(tenant, phone, word)
    await textFrom(tenant, phone, word)
    expect(await listOf(tenant)).toEqual([{ phone, reason: 'keyword' }])
  })

  it.each(['STOP it', 'please stop', 'STOP.'])('is the whole text; %j is none', async (word) => {
    const tenant = await fresh()
    await textFrom(tenant, newNumber(), word)
    expect(await listOf(tenant)).toEqual([])
  })

  it('is one of the settings; START takes the number out, whatever the reason', async () => {
    const tenant = await fresh()
    const phone = newNumber()
    await tenant.api.put('suppression-settings', { keywords: ['Basta'] })
    await textFrom(tenant, phone, 'STOP')
    expect(await listOf(tenant)).toEqual([])
    await textFrom(tenant, phone, 'BASTA')
    expect(await listOf(tenant)).toEqual([{ phone, reason: 'keyword' }])
    await textFrom(tenant, phone, 'start')
    expect(await listOf(tenant)).toEqual([])
    await tenant.api.post('suppressions', { phone })
    await textFrom(tenant, phone, 'START')
    expect(await listOf(tenant)).toEqual([])
  })

  it.each<['NFC' | 'NFD', 'NFC' | 'NFD']>([
    ['NFC', 'NFD'],
    ['NFD', 'NFC'],
  ])('with an accent that is written as %s is found in a text that writes it as %s', async (given, written) => {
    const tenant = await fresh()
    const phone = newNumber()
    await tenant.api.put('suppression-settings', { keywords: ['ARRÊT'.normalize(given)] })
    await textFrom(tenant, phone, 'arrêt'.normalize(written))
    expect(await listOf(tenant)).toEqual([{ phone, reason: 'keyword' }])
  })

  it('is answered by the reply, which leaves all the same, once per adding', async () => {
    const tenant = await fresh()
    const phone = newNumber()
    await tenant.api.put('suppression-settings', { reply: 'You are out' })
    for (const word of ['STOP', 'stop', 'START', 'STOP']) await textFrom(tenant, phone, word)
    const history = (await tenant.api.get(`messages/history?phone=${encodeURIComponent(phone)}`)).body.data.messages
    const replies = history.filter(({ direction }: { direction: string }) => direction === 'outbound')
    expect(replies.map(({ body }: { body: string }) => body)).toEqual(['You are out', 'You are out'])
    for (const { id } of replies) await settled(tenant, id, 'sent', 'delivered', 'read')
    const { body } = await tenant.api.graphql('{ events(first: 9, types: [message_queued]) { nodes { payload } } }')
    const queued = body.data.events.nodes.map(({ payload }: { payload: { messageId: string } }) => payload.messageId)
    expect(queued.sort()).toEqual(replies.map(({ id }: { id: string }) => id).sort())
    expect(await used(tenant)).toBe(2)
    expectRefusal(await tenant.api.post('messages/send', text(tenant, { to: phone })), 409, 'RECIPIENT_SUPPRESSED')
  })
})

it('a network that says "opted out" adds the number, and the message fails', async () => {
  const tenant = await fresh()
  const to = numberEnding('0011')
  const { id } = (await tenant.api.post('messages/send', text(tenant, { to }))).body.data
  expect(await settled(tenant, id, 'failed')).toMatchObject({ error: 'OPTED_OUT' })
  expect(await listOf(tenant)).toEqual([{ phone: to, reason: 'network' }])
})

describe('a message that has not left when its number is suppressed', () => {
  it('fails with the code and gives its quota back, scheduled or waiting', async () => {
    const { account, api } = await fresh()
    const { id: instanceId } = (await api.post('instances', { name: 'Asleep', provider: 'sandbox' })).body.data
    const tenant = { account, api, instance: { id: instanceId, waNumber: '' } }
    const [now, later] = [newNumber(), newNumber()]
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const sent = await api.post('messages/send', text(tenant, { to: now }))
    const scheduled = await api.post('messages/schedule', text(tenant, { to: later, scheduledAt }))
    for (const phone of [now, later]) await api.post('suppressions', { phone })
    await api.post(`instances/${instanceId}/connect`)
    await bringForward(rig.databaseUrl, [scheduled.body.data.id])
    for (const { body } of [sent, scheduled]) {
      expect(await settled(tenant, body.data.id, 'failed')).toMatchObject({
        error: 'RECIPIENT_SUPPRESSED',
        providerMessageId: null,
      })
    }
    expect(await used(tenant)).toBe(0)
  })
})

describe('a campaign', () => {
  it('cancels the recipients that are suppressed beforehand, and writes to the others', async () => {
    const tenant = await fresh()
    const [out, to] = [newNumber(), newNumber()]
    await tenant.api.post('suppressions', { phone: out })
    const made = await tenant.api.post('campaigns', campaign(tenant, { recipients: [{ to: out }, { to }] }))
    expect(made.body.data.recipientsCount).toBe(2)
    const { recipients } = (await tenant.api.get(`campaigns/${made.body.data.id}/recipients`)).body.data
    expect(recipients).toMatchObject([
      { to: out, status: 'cancelled', error: 'RECIPIENT_SUPPRESSED', messageId: null },
      { to, status: 'planned', error: null },
    ])
  })

  it('is refused if all of its recipients are suppressed', async () => {
    const tenant = await fresh()
    const to = newNumber()
    await tenant.api.post('suppressions', { phone: to })
    const message = 'recipients: every number is in the do-not-contact list'
    expectRefusal(
      await tenant.api.post('campaigns', campaign(tenant, { recipients: [{ to }] })),
      400,
      'VALIDATION_ERROR',
      message,
    )
  })

  it('writes nothing to a number that is suppressed while it runs', async () => {
    const { account, api } = await fresh()
    const tenant = { account, api, instance: await connectedInstance(rig.databaseUrl, account) }
    const phones = Array.from({ length: 60 }, newNumber)
    const recipients = phones.map((to) => ({ to }))
    const [id] = await Promise.all([
      api.post('campaigns', campaign(tenant, { recipients, scheduledAt: undefined })).then(({ body }) => body.data.id as string),
      ...phones.slice(30).map((phone) => api.post('suppressions', { phone })),
    ])
    const rows = await settledRecipients(tenant, id)
    for (const { to, status, error } of rows) {
      const isOut = phones.indexOf(to) >= 30
      // A message that left before the number was suppressed has left.
      if (status === 'cancelled') expect([isOut, error]).toEqual([true, 'RECIPIENT_SUPPRESSED'])
      else expect(['sent', 'delivered', 'read']).toContain(status)
    }
    const left = rows.filter(({ status }) => status !== 'cancelled').length
    expect(await used(tenant)).toBe(left)
  })
})

async function settledRecipients({ api }: Tenant, id: string): Promise<{ to: string; status: string; error: string | null }[]> {
  return await until(async () => {
    const { recipients } = (await api.get(`campaigns/${id}/recipients?limit=100`)).body.data
    const open = recipients.filter(({ status }: { status: string }) => status === 'planned' || status === 'queued')
    return recipients.length === 60 && open.length === 0 ? recipients : undefined
  })
}

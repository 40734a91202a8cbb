// The connection of an instance: logout, restarts, and what the network can say when it closes it.
import { getBinaryNodeChild } from 'baileys'
import { beforeAll, describe, expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, openClient, openLoopback, rowsOf } from './rig.ts'

describe('the connection of an instance of web', () => {
  let network: Loopback
  let gateway: OpenGateway
  let client: Client
  let databaseUrl: string

  beforeAll(async () => {
    databaseUrl = await cloneDatabase()
    network = await openLoopback('393331234567')
    gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
    client = await openClient(databaseUrl, gateway)
  })

  const stored = async (id: string) => {
    const rows = await rowsOf(
      databaseUrl,
      `select (select count(*)::int from web_creds where "instanceId" = $1) as creds,
        (select count(*)::int from web_keys where "instanceId" = $1) as keys,
        (select count(*)::int from web_sessions where "instanceId" = $1 and removal is not null) as removals`,
      [id],
    )
    return rows[0] as { creds: number; keys: number; removals: number }
  }

  it('ends with a logout, which removes the device and leaves no key', async () => {
    const id = await client.pair(network, '390000000011')
    expect((await stored(id)).creds).toBe(1)
    expect((await client.api.post(`instances/${id}/logout`)).status).toBe(200)
    await until(() => network.accounts.get('390000000011')?.removed)
    await until(async () => (await stored(id)).removals === 0)
    expect(await stored(id)).toEqual({ creds: 0, keys: 0, removals: 0 })
    expect((await client.state(id)).status).toBe('logged_out')
  })

  it('is removed later when the network is away at the logout', async () => {
    const id = await client.pair(network, '390000000012')
    await network.close()
    expect((await client.api.post(`instances/${id}/logout`)).status).toBe(200)
    expect(await stored(id)).toEqual({ creds: 0, keys: 0, removals: 1 })
    // Nothing can be sent with what is kept for the removal.
    const ann = { to: '+393331234567', type: 'text', text: 'after the logout' }
    const { body } = await client.api.post('messages/send', { instanceId: id, ...ann })
    await network.listen()
    await until(() => network.accounts.get('390000000012')?.removed)
    await until(async () => (await stored(id)).removals === 0)
    expect((await client.api.get(`messages/${body.data.id}`)).body.data.status).toBe('queued')
    expect(network.arrived).toEqual([])
  })

  it('is removed with a newer version when the network takes the present one no more', async () => {
    const account = '390000000066'
    const id = await client.pair(network, account)
    network.versions.newest = 4_100_000_000
    network.versions.oldest = network.versions.newest
    expect((await client.api.post(`instances/${id}/logout`)).status).toBe(200)
    await until(() => network.accounts.get(account)?.removed)
    await until(async () => (await stored(id)).removals === 0)
    expect(network.versions.refused).toBe(1)
    network.versions.oldest = 0
  })

  it('is removed at the next login when the connection is lost before the network has done it', async () => {
    const account = '390000000067'
    const id = await client.pair(network, account)
    let lost = false
    network.onRequest = (request) => {
      if (lost || !getBinaryNodeChild(request, 'remove-companion-device')) return undefined
      lost = true
      network.accounts.get(account)?.connection?.ws.terminate()
      return 'lost'
    }
    expect((await client.api.post(`instances/${id}/logout`)).status).toBe(200)
    await until(async () => (await stored(id)).removals === 0)
    expect([lost, network.accounts.get(account)?.removed]).toEqual([true, true])
    network.onRequest = undefined
  })

  it('forgets what it kept for a removal after a day, if the network was away for so long', async () => {
    const account = '390000000010'
    const id = await client.pair(network, account)
    network.onLogin = (digits) => (digits === account ? { tag: 'failure', attrs: { reason: '503' } } : undefined)
    expect((await client.api.post(`instances/${id}/logout`)).status).toBe(200)
    const [{ hours }] = await rowsOf(
      databaseUrl,
      `select extract(epoch from "removalUntil" - now()) / 3600 as hours from web_sessions where "instanceId" = $1`,
      [id],
    )
    expect(Number(hours)).toBeCloseTo(24, 1)
    // With another token, the holder of the connection reads again what is wanted.
    await rowsOf(databaseUrl, `update web_sessions set "removalUntil" = now() + interval '3 seconds' where "instanceId" = $1`, [
      id,
    ])
    await rowsOf(databaseUrl, 'update instance_leases set token = token + 1 where "instanceId" = $1', [id])
    await until(async () => (await stored(id)).removals === 0)
    network.onLogin = undefined
    expect(network.accounts.get(account)?.removed).toBe(false)
  })

  it('is logged out, and its keys are gone, when the device was removed on the phone', async () => {
    const id = await client.pair(network, '390000000013')
    network.disconnect('390000000013', '401')
    const { lastError } = await client.reached(id, 'logged_out')
    expect(lastError).toContain('401')
    expect(await stored(id)).toEqual({ creds: 0, keys: 0, removals: 0 })
  })

  it('waits out a temporary ban, which restricts the account, unless another device is paired', async () => {
    const id = await client.pair(network, '390000000014')
    network.onLogin = (digits) =>
      digits === '390000000014' ? { tag: 'failure', attrs: { reason: '402', code: '101', expire: '259200' } } : undefined
    network.accounts.get('390000000014')?.connection?.ws.terminate()
    const found = await until(async () => {
      const state = await client.state(id)
      return state.lastError?.includes('402') ? state : undefined
    })
    expect(found.status).toBe('disconnected')
    // Both count from the end of the ban, so that the account is restricted for as long as it is banned. The connection stores the three
    // one after the other.
    await until(async () => {
      const [row] = await rowsOf(
        databaseUrl,
        `select i."restrictedAt" - s."retryAt" between '-1 minute' and '1 minute'
           and i."atRiskAt" - s."retryAt" between '-1 minute' and '1 minute' and s."retryAt" > now() + interval '2 days' as holds
         from instances i join web_sessions s on s."instanceId" = i.id where i.id = $1`,
        [id],
      )
      return row?.holds === true
    })
    network.onLogin = undefined

    const { body } = await client.api.post(`instances/${id}/connect`, {})
    expect(body.data.status).toBe('disconnected')
    expect((await client.state(id)).lastError).toMatch(/^the network banned the account until \d{4}-.*Z \(402\)$/)

    expect((await client.api.post(`instances/${id}/logout`)).status).toBe(200)
    expect((await client.api.post(`instances/${id}/connect`, {})).body.data.status).toBe('connecting')
    network.scan(await until(async () => (await client.state(id)).qr), '390000000020')
    await client.reached(id, 'connected')
  })

  it('pairs by a code that is entered on the phone', async () => {
    const id = await client.create()
    expect((await client.api.post(`instances/${id}/connect`, { phone: '+390000000016' })).status).toBe(200)
    const code = await until(async () => (await client.state(id)).pairingCode)
    expect(code).toMatch(/^[A-Z0-9]{4}-[A-Z0-9]{4}$/)
    expect((await client.state(id)).status).toBe('pairing')
    await network.enter(code, '390000000016')
    await client.reached(id, 'connected')
    expect((await client.api.get(`instances/${id}`)).body.data.waNumber).toBe('+390000000016')
  })

  it('tells the network by itself that messages were read, if the instance is set so', async () => {
    const account = '390000000017'
    await client.pair(network, account, { markRead: true })
    const id = await network.write('393331234567', account, { conversation: 'seen?' })
    await until(() => network.requests.find(({ tag, attrs }) => tag === 'receipt' && attrs.id === id && attrs.type === 'read'))
  })

  it('survives a restart of the gateway without a second socket, and writes again what a phone could not decrypt', async () => {
    const [account, ann] = ['390000000015', '393331234567']
    const id = await client.pair(network, account)
    await client.api.post('messages/send', { instanceId: id, to: `+${ann}`, type: 'text', text: 'before the restart' })
    const sent = await until(() => network.arrived.find(({ from }) => from === account))
    await until(async () => {
      const [row] = await rowsOf(databaseUrl, 'select status from messages where "providerMessageId" = $1', [sent.id])
      return row?.status === 'sent'
    })
    await gateway.stop()
    expect(network.connected).toEqual([])
    gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
    await until(() => network.connected.includes('390000000015'))
    expect((await openClientState(id)).status).toBe('connected')
    expect(network.replaced).toBe(0)
    network.askAgain(account, sent.id, ann)
    await until(() => sent.repeats === 1)
  })

  const openClientState = async (id: string) => {
    const [row] = await rowsOf(databaseUrl, 'select status from instances where id = $1', [id])
    return row as { status: string }
  }
})

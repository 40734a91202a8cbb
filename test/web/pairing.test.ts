// Pairing: each code is shown as it comes, and one that nobody uses ends the attempt, until the next `connect`.
import { beforeAll, describe, expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { type InnerGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, hasten, openClient, openLoopback } from './rig.ts'

describe('an instance of web that is to be paired', () => {
  let network: Loopback
  let gateway: InnerGateway
  let client: Client

  beforeAll(async () => {
    const databaseUrl = await cloneDatabase()
    network = await openLoopback('393331234567')
    gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
    client = await openClient(databaseUrl, gateway)
  })

  it('is connecting at once, shows each new QR code, and is disconnected when nobody scanned one', async () => {
    hasten(gateway, { qrMs: 400 })
    const id = await client.create()
    const { status, body } = await client.api.post(`instances/${id}/connect`, {})
    expect([status, body.data.status]).toEqual([200, 'connecting'])
    const shown = new Set<string>()
    const ended = await until(async () => {
      const state = await client.state(id)
      if (state.qr) shown.add(state.qr)
      return state.status === 'disconnected' ? state : undefined
    })
    expect(ended).toMatchObject({ qr: null, lastError: 'nobody scanned the code in time' })
    expect(shown.size).toBeGreaterThan(1)
    for (const qr of shown) expect(qr).toMatch(/^https:\/\/wa\.me\/settings\/linked_devices#/)

    hasten(gateway, { qrMs: undefined })
    expect((await client.api.post(`instances/${id}/connect`, {})).status).toBe(200)
    const qr = await until(async () => (await client.state(id)).qr)
    expect(shown).not.toContain(qr)
    network.scan(qr, '390000000018')
    expect(await client.reached(id, 'connected')).toMatchObject({ qr: null, lastError: null })
  })

  it('begins anew after a code that nobody entered', async () => {
    hasten(gateway, { qrMs: 400 })
    const id = await client.create()
    const phone = '+390000000019'
    await client.api.post(`instances/${id}/connect`, { phone })
    const unused = await until(async () => (await client.state(id)).pairingCode)
    expect(await client.reached(id, 'disconnected')).toMatchObject({ pairingCode: null })
    hasten(gateway, { qrMs: undefined })
    await client.api.post(`instances/${id}/connect`, { phone })
    const code = await until(async () => (await client.state(id)).pairingCode)
    expect(code).not.toBe(unused)
    await network.enter(code, phone.slice(1))
    await client.reached(id, 'connected')
  })
  it('shows a code in place of a QR code once a number is given, and the same one when it is given again', async () => {
    const id = await client.create()
    const phone = '+390000000065'
    await client.api.post(`instances/${id}/connect`, {})
    await until(async () => (await client.state(id)).qr)
    expect((await client.api.post(`instances/${id}/connect`, { phone })).body.data.status).toBe('connecting')
    const code = await until(async () => (await client.state(id)).pairingCode)
    expect((await client.state(id)).qr).toBeNull()
    for (const again of [{ phone }, {}]) {
      const { body } = await client.api.post(`instances/${id}/connect`, again)
      expect(body.data).toMatchObject({ status: 'pairing', pairingCode: code })
    }
    await network.enter(code, phone.slice(1))
    await client.reached(id, 'connected')
  })
})

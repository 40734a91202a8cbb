// The state of an instance after the network closed its connection, by the network's code.
import { beforeAll, describe, expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { type InnerGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, hasten, openClient, openLoopback, rowsOf } from './rig.ts'

describe('an instance whose connection the network closes', () => {
  let network: Loopback
  let gateway: InnerGateway
  let client: Client
  let databaseUrl: string

  beforeAll(async () => {
    databaseUrl = await cloneDatabase()
    network = await openLoopback('393331234567')
    gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
    hasten(gateway, { leaseMs: 2_000, reconnectMs: 100 })
    client = await openClient(databaseUrl, gateway)
  })

  const rowOf = async (id: string) =>
    (
      await rowsOf(
        databaseUrl,
        `select i.status, i."lastError", i."restrictedAt" is not null as restricted, i."atRiskAt" is not null as "atRisk",
          (select count(*)::int from web_creds where "instanceId" = i.id) as logins from instances i where id = $1`,
        [id],
      )
    )[0] as { status: string; lastError: string | null; restricted: boolean; atRisk: boolean; logins: number }
  const isWanted = async (id: string) =>
    (await rowsOf(databaseUrl, 'select open from web_sessions where "instanceId" = $1', [id]))[0].open as boolean
  /** The next login of the account is refused. */
  const refuse = (account: string, reason: string) => {
    network.onLogin = (digits) => {
      if (digits !== account) return undefined
      network.onLogin = undefined
      return { tag: 'failure', attrs: { reason } }
    }
    network.accounts.get(account)?.connection?.ws.terminate()
  }

  /** Another connection takes the place of this one. */
  const replace = (account: string) =>
    network.accounts.get(account)?.connection?.send({
      tag: 'stream:error',
      attrs: {},
      content: [{ tag: 'conflict', attrs: { type: 'replaced' } }],
    })

  it.each([
    ['403', '390000000041'],
    ['406', '390000000042'],
  ])('with %s is logged out and restricted', async (code, account) => {
    const id = await client.pair(network, account)
    refuse(account, code)
    await client.reached(id, 'logged_out')
    const { lastError, ...row } = await rowOf(id)
    expect(lastError).toContain(code)
    expect(row).toMatchObject({ restricted: true, atRisk: true, logins: 0 })
  })

  it.each([
    ['500', '390000000043'],
    ['503', '390000000044'],
    ['428', '390000000045'],
  ])('with %s logs in again', async (code, account) => {
    const id = await client.pair(network, account)
    const before = network.logins
    network.disconnect(account, code)
    await until(() => network.logins > before && network.connected.includes(account))
    expect(await client.reached(id, 'connected')).toMatchObject({ lastError: null })
    expect((await rowOf(id)).logins).toBe(1)
  })

  it('with 515 logs in again at once, and stays connected for others', async () => {
    const account = '390000000046'
    const id = await client.pair(network, account)
    const before = network.logins
    network.disconnect(account, '515')
    await until(() => network.logins > before && network.connected.includes(account))
    const [row] = await rowsOf(databaseUrl, 'select cardinality(disconnections) as n from instances where id = $1', [id])
    expect(row.n).toBe(0)
  })

  it.each([
    ['409', '390000000047', 'the network refused the name of this device (409)'],
    ['411', '390000000053', 'the phone must turn on several devices first (411)'],
    ['413', '390000000054', 'the network refused this client (413)'],
    ['414', '390000000055', 'the network refused this client (414)'],
    ['415', '390000000056', 'the network refused this client (415)'],
    ['418', '390000000057', 'the network refused this client (418)'],
  ])('with %s keeps its login, and waits for a new connect', async (code, account, lastError) => {
    const id = await client.pair(network, account)
    network.disconnect(account, code)
    expect(await client.reached(id, 'disconnected')).toMatchObject({ lastError })
    expect(await rowOf(id)).toMatchObject({ restricted: false, logins: 1 })
    await until(async () => !(await isWanted(id)))
    expect((await client.api.post(`instances/${id}/connect`, {})).status).toBe(200)
    await until(() => network.connected.includes(account))
  })

  it('with 405 reports the newest version, as the network names it', async () => {
    const account = '390000000048'
    const id = await client.pair(network, account)
    network.versions.newest = 4_000_000_000
    network.versions.oldest = network.versions.newest
    network.accounts.get(account)?.connection?.ws.terminate()
    await until(() => network.versions.refused > 0)
    await until(() => network.connected.includes(account))
    await client.reached(id, 'connected')
    network.versions.oldest = 0
  })

  it('with 405 gives up when the network takes no version, and says so', async () => {
    const account = '390000000058'
    const id = await client.pair(network, account)
    network.versions.oldest = 4_200_000_000
    const before = network.versions.refused
    network.accounts.get(account)?.connection?.ws.terminate()
    await until(async () => !(await isWanted(id)))
    // Once as it was, and three times with the newest version.
    expect(network.versions.refused - before).toBe(4)
    expect(await client.state(id)).toMatchObject({
      status: 'disconnected',
      lastError: 'the network does not take this version of WhatsApp Web any more (405)',
    })
    expect(gateway.logs.filter((line) => line.includes(id) && line.includes('given up'))).toHaveLength(1)
    network.versions.oldest = 0
  })

  it('with 440 does not fight for its place: it stays as it is, and returns when its lease is still its own', async () => {
    const account = '390000000059'
    const id = await client.pair(network, account)
    const before = network.logins
    const replacedAt = performance.now()
    replace(account)
    await until(() => network.logins > before)
    // It waits as long as a lease lasts, in which the other connection ends if it is a mistake.
    expect(performance.now() - replacedAt).toBeGreaterThan(1_900)
    await until(() => network.connected.includes(account))
    expect(await client.state(id)).toMatchObject({ status: 'connected', lastError: null })
    const [row] = await rowsOf(databaseUrl, 'select cardinality(disconnections) as n from instances where id = $1', [id])
    expect(row.n).toBe(0)
  })

  it('with 440 again and again keeps its login, and waits for a new connect', async () => {
    const account = '390000000070'
    const id = await client.pair(network, account)
    hasten(gateway, { leaseMs: 50 })
    const before = network.logins
    for (let n = 0; n < 3; n++) {
      await until(() => network.logins === before + n && network.connected.includes(account))
      await client.reached(id, 'connected')
      replace(account)
    }
    const lastError = 'another program connects with the login of this device again and again (440)'
    expect(await client.reached(id, 'disconnected')).toMatchObject({ lastError })
    expect(await rowOf(id)).toMatchObject({ restricted: false, logins: 1 })
    expect(await isWanted(id)).toBe(false)
    expect(network.logins).toBe(before + 2)
    hasten(gateway, { leaseMs: 2_000 })
    expect((await client.api.post(`instances/${id}/connect`, {})).status).toBe(200)
    await client.reached(id, 'connected')
  })

  it('tells what the network says of its account: a lock on new chats, and the cap on them', async () => {
    const account = '390000000049'
    const id = await client.pair(network, account)
    const tell = (op_name: string, data: object) =>
      network.accounts.get(account)?.connection?.send({
        tag: 'notification',
        attrs: { from: 's.whatsapp.net', type: 'mex', id: `m${op_name}`, t: '1' },
        content: [{ tag: 'update', attrs: { op_name }, content: Buffer.from(JSON.stringify({ data })) }],
      })
    tell('MessageCappingInfoNotification', {
      xwa2_notify_new_chat_messages_capping_info_update: { capping_status: 'SECOND_WARNING' },
    })
    await until(async () => (await rowOf(id)).atRisk)
    expect((await rowOf(id)).restricted).toBe(false)
    // An end that is no time does not keep the lock from being reported.
    const lock = { is_active: true, time_enforcement_ends: 'soon' }
    tell('NotificationUserReachoutTimelockUpdate', { xwa2_notify_account_reachout_timelock: lock })
    await until(async () => (await rowOf(id)).restricted)
    expect((await rowOf(id)).lastError).toContain('does not let this account begin new chats')
  })

  it('asks the network about its account after each login', async () => {
    network.standing = {
      xwa2_fetch_account_reachout_timelock: { is_active: false },
      xwa2_message_capping_info: { capping_status: 'CAPPED' },
    }
    const id = await client.pair(network, '390000000050')
    await until(async () => (await rowOf(id)).restricted)
    network.standing = {}
  })

  it('connects anew while the removal of its former device still waits', async () => {
    const account = '390000000051'
    const id = await client.pair(network, account)
    network.onLogin = (digits) => (digits === account ? { tag: 'failure', attrs: { reason: '503' } } : undefined)
    expect((await client.api.post(`instances/${id}/logout`)).status).toBe(200)
    const before = network.logins
    await until(() => network.logins > before)
    expect((await client.api.post(`instances/${id}/connect`, {})).status).toBe(200)
    const qr = await until(async () => (await client.state(id)).qr)
    network.scan(qr, '390000000052')
    await client.reached(id, 'connected')
    network.onLogin = undefined
    await until(() => network.accounts.get(account)?.removed)
    expect(network.connected).toContain('390000000052')
  })

  it('removes both devices of two logouts while the network was away', async () => {
    const accounts = ['390000000067', '390000000068'] as const
    const id = await client.pair(network, accounts[0])
    const refused = (digits: string) => digits === accounts[0] || (digits === accounts[1] && isAway)
    let isAway = false
    network.onLogin = (digits) => (refused(digits) ? { tag: 'failure', attrs: { reason: '503' } } : undefined)
    await client.api.post(`instances/${id}/logout`)
    await client.api.post(`instances/${id}/connect`, {})
    network.scan(await until(async () => (await client.state(id)).qr), accounts[1])
    await client.reached(id, 'connected')
    isAway = true
    await client.api.post(`instances/${id}/logout`)
    await client.reached(id, 'logged_out')
    network.onLogin = undefined
    await until(() => accounts.every((account) => network.accounts.get(account)?.removed))
    const left = `select 1 from web_sessions where "instanceId" = $1 and removal is not null
      union all select 1 from web_removals where "instanceId" = $1`
    await until(async () => (await rowsOf(databaseUrl, left, [id])).length === 0)
  })
})

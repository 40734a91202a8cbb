// The state of an instance after the network closed its connection, by the network's code.
import { beforeAll, describe, expect, it } from 'vitest'
import { cloneDatabase, openGateway, until } from '../kit/kit.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, openClient, openLoopback, rowsOf } from './rig.ts'

describe('an instance whose connection the network closes', () => {
  let network: Loopback
  let client: Client
  let databaseUrl: string

  beforeAll(async () => {
    databaseUrl = await cloneDatabase()
    network = await openLoopback('393331234567')
    client = await openClient(databaseUrl, await openGateway({ databaseUrl, env: environmentOf(network) }))
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
  /** The next login of the account is refused. */
  const refuse = (account: string, reason: string) => {
    network.onLogin = (digits) => {
      if (digits !== account) return undefined
      network.onLogin = undefined
      return { tag: 'failure', attrs: { reason } }
    }
    network.accounts.get(account)?.connection?.ws.terminate()
  }

  it.each([
    ['403', '390000000041'],
    ['406', '390000000042'],
  ])('with %s is logged out and restricted', async (code, account) => {
    const id = await client.pair(network, account)
    refuse(account, code)
    await client.reached(id, 'logged_out')
    const { lastError, ...row } = await rowOf(id)
    expect(lastError).toContain(code)
    expect(row).toMatchObject({ restricted: true, logins: 0 })
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

  it('with 409 waits for a new connect', async () => {
    const account = '390000000047'
    const id = await client.pair(network, account)
    refuse(account, '409')
    const { lastError } = await until(async () => {
      const row = await rowOf(id)
      return row.lastError?.includes('(409)') ? row : undefined
    })
    expect(lastError).toContain('name of this device')
    await until(async () => !(await rowsOf(databaseUrl, 'select open from web_sessions where "instanceId" = $1', [id]))[0].open)
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
    tell('NotificationUserReachoutTimelockUpdate', { xwa2_notify_account_reachout_timelock: { is_active: true } })
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
})

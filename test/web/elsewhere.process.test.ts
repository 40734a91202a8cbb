// Two processes and one connection: both use it, it keeps its pace, and a holder that was frozen neither sends nor writes keys when it wakes.
import { beforeAll, describe, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { cloneDatabase } from '../kit/database.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, openClient, openLoopback, rowsOf } from './rig.ts'

const ann = '393331234567'
const shop = '390000000081'

describe('two processes with one instance of web', () => {
  let network: Loopback
  let databaseUrl: string
  let here: OpenGateway
  let other: Gateway
  let client: Client
  let instanceId: string

  beforeAll(async () => {
    databaseUrl = await cloneDatabase()
    network = await openLoopback(ann)
    other = await startGateway({ databaseUrl, env: environmentOf(network, '/other') })
    client = await openClient(databaseUrl, other)
    instanceId = await client.pair(network, shop)
    here = await openGateway({ databaseUrl, env: environmentOf(network, '/here') })
    // From here on both processes know that the other one can hold connections.
    await until(async () => (await rowsOf(databaseUrl, 'select from web_nodes')).length === 2)
  })

  const holder = () => network.accounts.get(shop)?.connection
  const asked = (gateway: { url: string }) => api(gateway, client.account.apiKey)
  const texts = () => network.arrived.map(({ message }) => message.extendedTextMessage?.text)
  const send = async (gateway: { url: string }, text: string) =>
    (await asked(gateway).post('messages/send', { instanceId, to: `+${ann}`, type: 'text', text })).body.data.id as string
  const settled = (ids: string[]) =>
    until(async () => {
      const rows = await rowsOf(databaseUrl, 'select status from messages where id = any($1)', [ids])
      return rows.every(({ status }) => status === 'sent')
    })

  it('look numbers up and mark messages as read from either', async () => {
    expect(holder()?.path).toBe('/ws/chat/other')
    for (const gateway of [here, other]) {
      // A number that nobody looked up before.
      const numbers = [`+${ann}`, gateway === here ? '+393339999991' : '+393339999992']
      const { body } = await asked(gateway).post('number-lookups', { instanceId, numbers })
      expect(body.data.map(({ exists }: { exists: boolean }) => exists)).toEqual([true, false])
      const stanzaId = await network.write(ann, shop, { conversation: `read by ${gateway.url}` })
      const text = 'select id from messages where "providerMessageId" = $1'
      const id = await until(async () => (await rowsOf(databaseUrl, text, [stanzaId]))[0]?.id)
      expect((await asked(gateway).post(`messages/${id}/read`)).status).toBe(200)
      await until(() =>
        network.requests.find(({ tag, attrs }) => tag === 'receipt' && attrs.id === stanzaId && attrs.type === 'read'),
      )
    }
    // An answer is kept for all processes.
    const before = network.requests.filter(({ attrs }) => attrs.xmlns === 'usync').length
    const numbers = ['+393339999991', '+393339999992']
    const { body } = await asked(here).post('number-lookups', { instanceId, numbers })
    expect(body.data.map(({ exists }: { exists: boolean }) => exists)).toEqual([false, false])
    expect(network.requests.filter(({ attrs }) => attrs.xmlns === 'usync').length).toBe(before)
    // A worker of either process marks as read, and looks for the answer every 150 ms.
    await until(async () => (await rowsOf(databaseUrl, 'select from web_calls')).length === 0)
  })

  it('keep one pace together', async () => {
    const paceMs = 300
    const pace = { minMs: paceMs, maxMs: paceMs }
    expect((await client.api.put(`instances/${instanceId}`, { settings: { pace } })).status).toBe(200)
    const count = 8
    const ids: string[] = []
    for (let i = 0; i < count; i++) ids.push(await send(i % 2 ? here : other, `paced ${i}`))
    await settled(ids)
    const paced = network.arrived.filter(({ message }) => message.extendedTextMessage?.text?.startsWith('paced'))
    expect(paced).toHaveLength(count)
    const [first, last] = [paced[0]?.at as number, paced.at(-1)?.at as number]
    // Two processes with a pace each would need half of it.
    expect(last - first).toBeGreaterThan(0.8 * (count - 1) * paceMs)
    await client.api.put(`instances/${instanceId}`, { settings: { pace: { minMs: 0, maxMs: 0 } } })
  })

  it('replace one that is frozen in the middle of its work, which neither sends nor writes keys when it wakes', async () => {
    const old = holder()
    expect(old?.path).toBe('/ws/chat/other')
    // A message leaves whose ack comes while its process is frozen, and one comes in that it has not read.
    network.lostAcks = 1
    const arrivedBefore = network.arrived.length
    const unacked = await send(other, 'unacked')
    await until(() => network.arrived.length > arrivedBefore)
    other.kill('SIGSTOP')
    const inbound = await network.write(ann, shop, { conversation: 'to a frozen process' })
    await until(() => holder()?.path === '/ws/chat/here')
    const received = `select id from messages where "providerMessageId" = $1`
    await until(async () => (await rowsOf(databaseUrl, received, [inbound])).length === 1)
    await settled([unacked])
    await settled([await send(here, 'from the new holder')])
    await until(() => network.accounts.get(shop)?.queue.size === 0)
    const keys = async () =>
      await rowsOf(
        databaseUrl,
        `select md5(string_agg(type || "keyId" || encode(data, 'hex'), ',' order by type, "keyId")) as keys,
          (select md5(data) from web_creds) as creds from web_keys`,
      )
    const [before, nodes] = [await keys(), old?.nodes]
    await until(async () => (await rowsOf(databaseUrl, 'select from web_nodes where "seenUntil" > now()')).length === 1)

    other.kill('SIGCONT')
    await until(() => old?.ws.readyState === old?.ws.CLOSED)
    await until(async () => (await rowsOf(databaseUrl, 'select from web_nodes where "seenUntil" > now()')).length === 2)
    // The process that woke works again.
    expect((await asked(other).get(`instances/${instanceId}/state`)).body.data).toMatchObject({
      status: 'connected',
      lastError: null,
    })
    expect(old?.nodes).toBe(nodes)
    expect(await keys()).toEqual(before)
    expect(holder()?.path).toBe('/ws/chat/here')
    await settled([await send(other, 'after all')])
    expect(texts().slice(arrivedBefore)).toEqual(['unacked', 'from the new holder', 'after all'])
    expect(network.faults).toEqual([])
    expect(network.retries).toBe(0)
  })
})

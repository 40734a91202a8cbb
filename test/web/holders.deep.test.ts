// Two processes and the connections of web: kills, freezes, clean stops and joins leave one socket for each account.
import { beforeAll, describe, expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, openClient, openLoopback, rowsOf } from './rig.ts'

const ann = '393331234567'
const accounts = ['390000000021', '390000000022', '390000000023', '390000000024']

describe('two processes', () => {
  let network: Loopback
  let databaseUrl: string
  let gateways: Gateway[]
  let client: Client
  let ids: string[]

  const holders = async () =>
    (await rowsOf(
      databaseUrl,
      `select node, count(*)::int as n, array_agg("instanceId"::text) as ids from instance_leases where "leaseUntil" > now() group by node`,
    )) as { node: string; n: number; ids: string[] }[]
  const even = () =>
    until(async () => (await holders()).filter(({ n }) => n === 2).length === 2 && network.connected.length === 4)
  const start = () => startGateway({ databaseUrl, env: environmentOf(network) })

  beforeAll(async () => {
    databaseUrl = await cloneDatabase()
    network = await openLoopback(ann)
  })

  it('share the connections, survive a kill, a freeze and a stop, and never open a second socket', {
    timeout: 240_000,
  }, async () => {
    gateways = [await start()]
    client = await openClient(databaseUrl, gateways[0] as Gateway)
    ids = await Promise.all(accounts.map((digits) => client.pair(network, digits)))
    const logins = network.logins
    gateways.push(await start())
    await even()
    // Two of four moved, each once.
    expect(network.logins - logins).toBe(2)

    // A killed holder is replaced within 30 s.
    const second = gateways[1] as Gateway
    second.kill('SIGKILL')
    const killedAt = Date.now()
    await until(() => network.connected.length < 4)
    await until(() => network.connected.length === 4, { timeoutMs: 60_000 })
    expect(Date.now() - killedAt).toBeLessThan(30_000)

    // A frozen holder that wakes finds its lease taken: it sends nothing and writes nothing.
    gateways[1] = await start()
    await even()
    const frozen = gateways[1] as Gateway
    const before = await holders()
    frozen.kill('SIGSTOP')
    const tokens = async () => (await rowsOf(databaseUrl, 'select sum(token)::int as sum from instance_leases'))[0]?.sum as number
    const sum = await tokens()
    await until(async () => (await tokens()) > sum + 1, { timeoutMs: 60_000 })
    const sent = await Promise.all(
      ids.map(async (instanceId, i) => {
        const { body } = await client.api.post('messages/send', { instanceId, to: `+${ann}`, type: 'text', text: `after ${i}` })
        return body.data.id as string
      }),
    )
    const rose = await tokens()
    frozen.kill('SIGCONT')
    await until(async () => {
      const rows = await rowsOf(databaseUrl, 'select status from messages where id = any($1)', [sent])
      return rows.every(({ status }) => status === 'sent')
    })
    expect(before.length).toBe(2)
    expect(rose).toBeGreaterThan(sum)
    await even()
    const texts = network.arrived.map(({ message }) => message.extendedTextMessage?.text).sort()
    expect(texts).toEqual(['after 0', 'after 1', 'after 2', 'after 3'])
    for (const id of ids) expect((await client.state(id)).status).toBe('connected')

    // A clean stop hands over at once.
    const replaced = network.replaced
    await frozen.stop()
    const stoppedAt = Date.now()
    await until(() => network.connected.length === 4)
    expect(Date.now() - stoppedAt).toBeLessThan(3_000)
    expect(network.replaced).toBe(replaced)
    expect(network.faults).toEqual([])
    const printed = [...(gateways[0] as Gateway).logs, ...frozen.logs, ...second.logs].join('\n')
    expect(printed).not.toMatch(/SessionEntry|privKey|Closing session|rootKey|chainKey/)
  })
})

// Two or three processes with instances of web are killed, frozen, stopped and cut off at random, by seeds 1 to 20. No account ever has a
// second socket, no message is lost, the recipient sees none twice, and each recipient gets them in order. `CHAOS_SEEDS=3,7` chooses seeds.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFailed } from 'vitest'
import { persist, pickFrom, seeded } from '../faults/rig.ts'
import { cloneDatabase } from '../kit/database.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'
import { environmentOf, openClient, openLoopback, rowsOf } from './rig.ts'

const seeds = process.env.CHAOS_SEEDS?.split(',').map(Number) ?? Array.from({ length: 20 }, (_, i) => i + 1)
const recipients = ['393331234567', '393337654321']
const accounts = ['390000000031', '390000000032', '390000000033', '390000000034']
const blows = ['kill', 'stop', 'freeze', 'freeze', 'drop', 'outage'] as const
const blowsOfSeed = 6
const messagesOfPair = 12

it.each(seeds)(
  'keeps one socket, every message and their order with processes that die at random (seed %i)',
  {
    timeout: 400_000,
  },
  async (seed) => {
    // Traffic draws as often as time allows. The blows draw from numbers of their own, so that the seed names their course.
    const random = seeded(1_000 + seed)
    const fate = seeded(seed)
    const count = 2 + (seed % 2)
    const databaseUrl = await cloneDatabase()
    const network = await openLoopback(...recipients)
    const course: string[] = []
    const past: Gateway[] = []
    let starts = 0
    const frozen = new Set<string>()
    const faults: string[] = []
    /** A frozen process cannot close its socket, which the next holder therefore replaces. Nothing else may be replaced. */
    network.onReplaced = (path) => {
      if (!frozen.has(path)) faults.push(`the socket of ${path} was replaced`)
    }
    const start = async () => {
      const path = `/${starts++}`
      const gateway = await startGateway({ databaseUrl, env: environmentOf(network, path) })
      return { gateway, path: `/ws/chat${path}`, away: false }
    }
    const nodes = await Promise.all(Array.from({ length: count }, start))
    onTestFailed(() => {
      console.error(`CHAOS_SEEDS=${seed}: ${course.join(', ')}`)
      console.error(
        [...past, ...nodes.map(({ gateway }) => gateway)].map(({ logs }) => logs.slice(-15).join('\n')).join('\n---\n'),
      )
    })
    const client = await openClient(databaseUrl, nodes[0]?.gateway as Gateway)
    const ids = await Promise.all(accounts.map((digits) => client.pair(network, digits)))
    const there = () =>
      pickFrom(
        nodes.filter(({ away }) => !away),
        random,
      ).gateway

    let striking = true
    const wanted = new Map<string, string[]>()
    const sendTo = async (instanceId: string, account: string, to: string) => {
      const texts: string[] = []
      wanted.set(`${account} ${to}`, texts)
      for (let i = 0; i < messagesOfPair || striking; i++) {
        const text = `${account} ${to} ${i}`
        const body = { instanceId, to: `+${to}`, type: 'text', text }
        const answer = await persist(client.account, there, 'messages/send', body, { key: randomUUID() })
        expect(answer.status).toBe(201)
        texts.push(text)
        await pause(500 + 1_500 * random())
      }
    }
    const written: string[] = []
    const write = async (from: string, account: string) => {
      for (let i = 0; i < messagesOfPair; i++) {
        written.push(await network.write(from, account, { conversation: `inbound ${i}` }))
        await pause(1_000 + 2_000 * random())
      }
    }
    const traffic = Promise.all([
      ...accounts.flatMap((account, i) => recipients.map((to) => sendTo(ids[i] as string, account, to))),
      ...accounts.map((account) => write(recipients[0] as string, account)),
    ])
    // Awaited below; a failure in the meantime is reported there.
    traffic.catch(() => {})

    const strike = async () => {
      const which = Math.floor(fate() * count)
      const node = nodes[which] as (typeof nodes)[number]
      const blow = pickFrom(blows, fate)
      course.push(`${blow} ${which}`)
      if (blow === 'drop') return network.accounts.get(pickFrom(accounts, fate))?.connection?.ws.terminate()
      if (blow === 'outage') {
        await network.close()
        await pause(3_000 * fate())
        await network.listen()
        return
      }
      node.away = true
      if (blow === 'freeze') {
        frozen.add(node.path)
        node.gateway.kill('SIGSTOP')
        // A lease lasts 12 s.
        await pause(fate() < 0.3 ? 5_000 : 13_000 + 4_000 * fate())
        node.gateway.kill('SIGCONT')
        // It closes the sockets of lost leases once it runs again, which takes a busy machine longer.
        await until(async () => (await fetch(`${node.gateway.url}/livez`)).ok)
        await pause(1_000)
        frozen.delete(node.path)
        node.away = false
        return
      }
      node.gateway.kill(blow === 'kill' ? 'SIGKILL' : 'SIGTERM')
      await node.gateway.exited
      past.push(node.gateway)
      nodes[which] = await start()
    }
    for (let n = 0; n < blowsOfSeed; n++) {
      await strike()
      await pause(1_000 + 4_000 * fate())
    }
    striking = false
    await traffic
    const sum = [...wanted.values()].flat().length
    await until(
      async () => {
        const [row] = await rowsOf(
          databaseUrl,
          `select array_agg(distinct status::text) as statuses from messages where direction = 'outbound'`,
        )
        return row.statuses.join() === 'sent'
      },
      { timeoutMs: 120_000, everyMs: 200 },
    )
    for (const [pair, texts] of wanted) {
      const [account, to] = pair.split(' ')
      const got = network.arrived.filter((one) => one.from === account && one.to === to)
      expect(got.map(({ message }) => message.extendedTextMessage?.text)).toEqual(texts)
    }
    await until(async () => {
      const rows = await rowsOf(databaseUrl, `select "providerMessageId" as id from messages where direction = 'inbound'`)
      return (
        rows
          .map(({ id }) => id)
          .sort()
          .join() === written.toSorted().join()
      )
    })
    await until(async () => {
      const rows = await rowsOf(databaseUrl, 'select status from instances')
      return rows.every(({ status }) => status === 'connected')
    })
    expect(faults).toEqual([])
    expect(network.faults).toEqual([])
    const repeats = network.arrived.reduce((all, { repeats }) => all + repeats, 0)
    console.log(
      `seed ${seed}, ${count} processes, ${network.retries} asked for again: ${sum} messages, ${repeats} sent twice under one id, ${written.length} received; ${course.join(', ')}`,
    )
  },
)

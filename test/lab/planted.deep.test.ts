// The checks of the lab find faults that are planted into a copy of the sources, and find nothing without them.
import { expect, it, vi } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import type { Fault } from './faults.ts'
import type { Node } from './nodes.ts'
import { type PlantedFault, plant, plantedFaults } from './planted.ts'
import { type LabOptions, runLab, type Scene } from './run.ts'

type Setting = Omit<LabOptions, 'nodes' | 'database' | 'seed' | 'program'>

/** Refused deliveries do not keep the lab waiting. */
const env = { WEBHOOK_RETRY_BASE_SECONDS: '0.1' }
/** No fault. Networks lose answers and refuse numbers, and receipts come later than any second offer. */
const calm: Setting = { seconds: 4, endings: ['0009', '0001', '5555'], env: { ...env, SANDBOX_LATENCY_MS: '2000' } }
/** Nodes die right after an answer, while many messages are on their way. */
const killed: Setting = {
  seconds: 4,
  endings: ['5555'],
  hangMs: 2_000,
  env,
  strike: async (scene) => [await kill(scene), await kill(scene)],
}
/** A node freezes before it has the answers of the receiver, which are refusals, for longer than its leases last. */
const frozen: Setting = {
  seconds: 3,
  endings: ['0005'],
  firstRefusedMs: 1_000,
  env,
  strike: async (scene) => [await freeze(scene)],
}

/** Kills the node that gave the last of twelve more answers, at once. */
async function kill({ nodes, urls, sending }: Scene): Promise<Fault> {
  const before = sending.acknowledged.length
  await until(() => sending.acknowledged.length > before + 12, { everyMs: 1 })
  const node = nodes[urls.indexOf(sending.lastFrom as string)] as Node
  const from = Date.now()
  await node.program.end('SIGKILL')
  await node.start()
  return { name: 'node killed', from, to: Date.now() }
}

/** Freezes a node until what it was about to deliver has been delivered by another. */
async function freeze({ nodes: [node], urls, pool, receiver }: Scene): Promise<Fault> {
  const { program } = node as Node
  const from = Date.now()
  const ids = await until(
    async () => {
      program.signal('SIGSTOP')
      const { rows } = await pool.query<{ ids: string[] }>(
        `select array_agg(id) as ids from webhook_deliveries
         where "eventId" = any($1) and attempts = 1 and "leaseToken" is not null group by "leaseToken"`,
        [[...receiver.waiting]],
      )
      // Each node leases under a token of its own.
      if (rows.length === 2) return rows.flatMap((own) => own.ids)
      program.signal('SIGCONT')
      return undefined
    },
    { everyMs: 200 },
  )
  const open = `select from webhook_deliveries where id = any($1) and status <> 'delivered'`
  await until(async () => (await pool.query(open, [ids])).rowCount === 0, { timeoutMs: 120_000, everyMs: 100 })
  program.signal('SIGCONT')
  // Its late outcomes are refused, or written.
  const unwritten = `select from webhook_deliveries d where id = any($1)
    and not exists (select from webhook_attempts where "deliveryId" = d.id and attempt = 1)`
  await until(async () => {
    const metrics = await (await fetch(`${urls[0]}/metrics`)).text()
    return /^gateway_fenced_writes_total [1-9]/m.test(metrics) || (await pool.query(unwritten, [ids])).rowCount === 0
  })
  return { name: 'node frozen', from, to: Date.now() }
}

/** The names of the lines that say BROKEN, and all that the database says. */
async function brokenIn(setting: Setting, fault?: PlantedFault): Promise<{ lines: string[]; database: string }> {
  using copy = fault && plant(fault)
  const startedAt = performance.now()
  const lines = await runLab({ ...setting, nodes: 2, database: await cloneDatabase(), seed: undefined, program: copy?.folder })
  console.log(`${Math.round((performance.now() - startedAt) / 1_000)} s, ${lines[0]?.value} messages`)
  for (const { what, value } of lines.filter(({ kept }) => kept === false)) console.log(`BROKEN ${what}  ${value}`)
  const broken = lines.filter(({ kept }) => kept === false).map(({ what }) => what)
  return { lines: broken, database: lines.find(({ what }) => what === 'invariants of the database')?.value ?? '' }
}

vi.setConfig({ testTimeout: 400_000 })

const none = { lines: [], database: 'hold' }

it('finds nothing without faults', async () => {
  expect(await brokenIn(calm)).toEqual(none)
})

it('finds nothing when nodes die after an answer', async () => {
  expect(await brokenIn(killed)).toEqual(none)
})

it('finds nothing when a node was frozen', async () => {
  expect(await brokenIn(frozen)).toEqual(none)
})

it('finds a message that is acknowledged before it is durable', async () => {
  expect((await brokenIn(killed, plantedFaults.acknowledgedEarly)).database).toContain('every acknowledged message exists: ')
})

it('finds a lease without a fence', async () => {
  expect((await brokenIn(frozen, plantedFaults.noFence)).database).toContain('a delivery is what its last attempt made of it: ')
})

it('finds a cursor that skips one event', async () => {
  const reader = (n: number) => `reader ${n}: missed, repeated, out of order`
  expect((await brokenIn(calm, plantedFaults.skippingCursor)).lines).toEqual([1, 2, 3].map(reader))
})

it('finds a retry that doubles', async () => {
  expect((await brokenIn(calm, plantedFaults.doublingRetry)).database).toContain(
    'a network that takes no id of ours is offered nothing twice: ',
  )
})

it('finds quota that is not given back', async () => {
  expect((await brokenIn(calm, plantedFaults.quotaKept)).database).toContain('used quota is what a recount finds: ')
})

it('finds a message that overtakes an earlier one', async () => {
  expect((await brokenIn(killed, plantedFaults.overtaking)).lines).toContain('messages to one number out of order')
})

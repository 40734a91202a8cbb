// Half a minute of load while one of two gateways is killed, frozen, stopped and started at random; then every invariant is
// checked. `CHAOS_SEED=n` chooses another course, `CHAOS_SECONDS=n` a longer one.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFailed } from 'vitest'
import type { Gateway } from '../kit/gateway.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { openStage, pickFrom, plainNumber, seeded, startLoad, text } from './rig.ts'

const seed = Number(process.env.CHAOS_SEED ?? 1)
const seconds = Number(process.env.CHAOS_SECONDS ?? 25)

const endings = ['5555', '5555', '5555', '0001', '0002', '0003', '0004', '0005', '0006', '0008', '0009', '0010']
const blows = ['kill', 'kill', 'freeze', 'stop'] as const

it(`neither loses nor duplicates a message when gateways die at random (seed ${seed})`, async () => {
  const stage = await openStage()
  const random = seeded(seed)
  const nodes = await Promise.all([stage.start(), stage.start()])
  const course: string[] = []
  const past: Gateway[] = []
  onTestFailed(() => {
    console.error(`CHAOS_SEED=${seed}: ${course.join(', ')}`)
    console.error([...past, ...nodes].map(({ logs }) => logs.slice(-10).join('\n')).join('\n---\n'))
  })
  const load = startLoad(
    stage.account,
    () => pickFrom(nodes, random),
    () => text(pickFrom([stage.sure, stage.blind], random), `${plainNumber().slice(0, -4)}${pickFrom(endings, random)}`),
    8,
    250,
  )
  const end = Date.now() + seconds * 1000
  while (Date.now() < end) {
    await pause(500 + 2_500 * random())
    const which = random() < 0.5 ? 0 : 1
    const blow = pickFrom(blows, random)
    const node = nodes[which] as Gateway
    course.push(`${blow} ${which}`)
    if (blow === 'freeze') {
      node.kill('SIGSTOP')
      // Callers of a frozen process wait as long as it is frozen.
      await pause(11_000 * random())
      node.kill('SIGCONT')
      continue
    }
    node.kill(blow === 'kill' ? 'SIGKILL' : 'SIGTERM')
    const exit = await node.exited
    if (blow === 'stop') expect(exit).toEqual({ code: 0, signal: null })
    past.push(node)
    nodes[which] = await stage.start()
  }
  await load.stop()
  const statuses = new Set(load.answers.map(({ status }) => status))
  expect([...statuses].filter((status) => status !== 201 && status !== 503)).toEqual([])
  await expectInvariants(stage.databaseUrl, {
    acknowledged: load.acknowledged,
    messages: load.acknowledged.length,
    withinMs: 60_000,
  })
  console.log(`chaos seed ${seed}: ${load.acknowledged.length} messages, ${course.join(', ')}`)
}, 180_000)

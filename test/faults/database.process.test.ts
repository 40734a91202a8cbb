// The database crashes under load: callers get 503 or no response, processes survive, and nothing acknowledged is lost.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFailed } from 'vitest'
import { ownServer } from '../kit/database.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { until } from '../kit/until.ts'
import { openStage, pickFrom, seeded, startLoad, text } from './rig.ts'

it('survives three crashes of the database under load', async () => {
  const server = await ownServer()
  const stage = await openStage(server.url)
  const nodes = await Promise.all([stage.open(), stage.start()])
  onTestFailed(() => console.error(nodes.map(({ logs }) => logs.slice(-20).join('\n')).join('\n---\n')))
  const random = seeded(8)
  const load = startLoad(
    stage.account,
    () => pickFrom(nodes, random),
    () => text(pickFrom([stage.sure, stage.blind], random)),
    12,
    5,
  )
  const recoveries: number[] = []
  for (let crash = 0; crash < 3; crash++) {
    const enough = load.acknowledged.length + 60
    await until(() => load.acknowledged.length >= enough)
    await server.stop('immediate')
    await pause(300)
    await server.start()
    const up = Date.now()
    const first = await until(() => load.answers.find(({ status, at }) => status === 201 && at > up))
    recoveries.push(first.at - up)
  }
  await load.stop()
  const others = load.answers.filter(({ status }) => status !== 201)
  expect(
    new Set(others.map(({ status, retryAfter }) => `${status} ${retryAfter !== null}`)),
    'only 503s, each with Retry-After',
  ).toEqual(new Set(['503 true']))
  expect(Math.max(...recoveries), `ms from the database being up to the first success: ${recoveries}`).toBeLessThan(5_000)
  for (const node of nodes) expect((await fetch(`${node.url}/livez`)).status).toBe(200)
  await expectInvariants(stage.databaseUrl, { acknowledged: load.acknowledged, messages: load.acknowledged.length })
  console.log(`F8: first success ${recoveries.join(', ')} ms after the restart; ${load.acknowledged.length} messages`)
})

// Further stops, kills and crashes that a start on the embedded database recovers from. restart.process.test.ts holds one of each kind.
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { api } from '../kit/api.ts'
import { startGateway } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'
import { dataFolder, demoOf, messageOf, send, usedFolder } from './demo.ts'

// Most tests start several gateways, each with a database to create or to recover.
vi.setConfig({ testTimeout: 300_000 })

it('keeps the data and prints the demo account once', async () => {
  const env = { DATA_DIR: await dataFolder() }
  const first = await startGateway({ env })
  const demo = demoOf(first)
  const id = await send(first, demo, 'kept')
  expect(await first.stop()).toEqual({ code: 0, signal: null })

  const second = await startGateway({ env })
  expect(second.logs.join()).not.toContain('svc_live_')
  await until(async () => (await messageOf(second, demo, id)).status === 'read')
})

it('starts again after its database was killed with it', async () => {
  const { demo, ...env } = await usedFolder()
  const first = await startGateway({ env })
  const id = await send(first, demo, 'survives')
  const lock = await readFile(path.join(env.DATA_DIR, 'postgres/postmaster.pid'), 'utf8')
  first.kill('SIGKILL')
  process.kill(Number(lock.split('\n')[0]), 'SIGKILL')
  await first.exited

  const second = await startGateway({ env })
  expect((await messageOf(second, demo, id)).body).toBe('survives')
})

it('starts despite a stale lock file, even one whose pid now belongs to another process', async () => {
  const { DATA_DIR } = await usedFolder()
  const env = { DATA_DIR }
  const first = await startGateway({ env })
  const lock = path.join(env.DATA_DIR, 'postgres/postmaster.pid')
  const lines = (await readFile(lock, 'utf8')).split('\n')
  await first.stop()
  for (const pid of [process.pid, 2 ** 22 - 1]) {
    await writeFile(lock, [pid, ...lines.slice(1)].join('\n'))
    const next = await startGateway({ env })
    await next.stop()
  }
})

it.each([
  ['thrown', 'throw%20new%20Error(`unforeseen`)'],
  ['rejected', 'Promise.reject(new%20Error(`unforeseen`))'],
])('exits at once on an unforeseen error that was %s, and leaves no database running', async (_, code) => {
  const env = {
    DATA_DIR: (await usedFolder()).DATA_DIR,
    NODE_OPTIONS: `--import=data:text/javascript,process.on(\`SIGUSR2\`,()=>{${code}})`,
  }
  const gateway = await startGateway({ env })
  const before = performance.now()
  gateway.kill('SIGUSR2')
  expect(await gateway.exited).toEqual({ code: 1, signal: null })
  expect(performance.now() - before).toBeLessThan(5_000)
  expect(gateway.logs.filter((line) => line.includes('"level":"fatal"'))).toEqual([expect.stringContaining('unforeseen')])
  await until(() => !existsSync(path.join(env.DATA_DIR, 'postgres/postmaster.pid')))
})

it('refuses the cursors of lost events after a restore, also once as many have followed', async () => {
  const { demo, ...lost } = await usedFolder()
  const restored = await usedFolder()
  const events = `query($after: String) { events(first: 100, after: $after) { edges { cursor } } }`
  const read = async (gateway: { url: string }, after?: string) =>
    (await api(gateway, demo.apiKey).graphql(events, { after })).body
  const first = await startGateway({ env: lost })
  const id = await send(first, demo, 'after the backup')
  await until(async () => (await messageOf(first, demo, id)).status === 'read')
  const cursors: string[] = (await read(first)).data.events.edges.map(({ cursor }: { cursor: string }) => cursor)
  await first.stop()

  const second = await startGateway({ env: { DATA_DIR: restored.DATA_DIR } })
  const ids = [await send(second, demo, 'after the restore'), await send(second, demo, 'more of them')]
  for (const each of ids) await until(async () => (await messageOf(second, demo, each)).status === 'read')
  const answers = await Promise.all(cursors.map((cursor) => read(second, cursor)))
  const refused = answers.filter(
    ({ errors }) => errors?.[0].message === 'after: is of an event that the log has lost; start without it',
  )
  // One of 480 passes by chance.
  expect([cursors.length >= 3, refused.length >= cursors.length - 1]).toEqual([true, true])
})

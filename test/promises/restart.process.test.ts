// Proves what survives a stop, a kill or a crash, and that the next start recovers, on the embedded database.
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { startGateway, until } from '../kit/kit.ts'
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

it('starts again after kill -9 with every acknowledged message, and finishes sending them', async () => {
  const { demo, ...env } = await usedFolder()
  const first = await startGateway({ env })
  const ids = await Promise.all([1, 2, 3].map((n) => send(first, demo, `message ${n}`)))
  first.kill('SIGKILL')
  await first.exited

  const second = await startGateway({ env })
  for (const id of ids) await until(async () => (await messageOf(second, demo, id)).status === 'read')
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

it('continues when its database alone is killed', async () => {
  const { demo, ...env } = await usedFolder()
  const gateway = await startGateway({ env })
  const id = await send(gateway, demo, 'before')
  const lock = await readFile(path.join(env.DATA_DIR, 'postgres/postmaster.pid'), 'utf8')
  process.kill(Number(lock.split('\n')[0]), 'SIGKILL')
  await gateway.line(/the embedded database is back/)
  await until(async () => (await messageOf(gateway, demo, id)).status === 'read')
  expect(await gateway.stop()).toEqual({ code: 0, signal: null })
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

it('stops within 10 s of SIGTERM with messages in progress and a stream open, and loses no message', async () => {
  const { demo, DATA_DIR } = await usedFolder()
  const env = { DATA_DIR, SANDBOX_LATENCY_MS: '2000', RATE_LIMIT_PER_SECOND: '100' }
  const first = await startGateway({ env })
  const stream = await fetch(`${first.url}/api/v1/events/stream`, { headers: { 'x-api-key': demo.apiKey } })
  const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => send(first, demo, `message ${n}`)))
  const before = performance.now()
  expect(await first.stop()).toEqual({ code: 0, signal: null })
  expect(performance.now() - before).toBeLessThan(10_000)
  await stream.text()

  const second = await startGateway({ env: { ...env, SANDBOX_LATENCY_MS: '20' } })
  for (const id of ids) await until(async () => (await messageOf(second, demo, id)).status === 'read')
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

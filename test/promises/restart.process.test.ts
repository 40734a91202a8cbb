// Proves what survives a stop, a kill or a crash, and that the next start recovers, on the embedded database; see restart.deep.test.ts for more.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import { expect, it } from 'vitest'
import { openEmbedded } from '../../src/core/database/embedded.ts'
import { atEnd } from '../kit/at-end.ts'
import { environment, node, root } from '../kit/environment.ts'
import { startGateway, watch } from '../kit/gateway.ts'
import { allowed } from '../kit/measured.ts'
import { until } from '../kit/until.ts'
import { messageOf, send, usedFolder } from './demo.ts'

it('starts again after kill -9 with every acknowledged message, and finishes sending them', async () => {
  const { demo, ...env } = await usedFolder()
  const first = await startGateway({ env })
  const ids = await Promise.all([1, 2, 3].map((n) => send(first, demo, `message ${n}`)))
  first.kill('SIGKILL')
  await first.exited

  const second = await startGateway({ env })
  for (const id of ids) await until(async () => (await messageOf(second, demo, id)).status === 'read')
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

it('continues when a command has started its database again before it', async () => {
  const { demo: _, ...env } = await usedFolder()
  const gateway = await startGateway({ env })
  const lock = await readFile(path.join(env.DATA_DIR, 'postgres/postmaster.pid'), 'utf8')
  gateway.kill('SIGSTOP')
  process.kill(Number(lock.split('\n')[0]), 'SIGKILL')
  await using _command = await openEmbedded({ dataDir: env.DATA_DIR, as: 'command' })
  gateway.kill('SIGCONT')
  await gateway.line(/the embedded database is back/)
  await until(async () => (await fetch(`${gateway.url}/readyz`)).status === 200)
})

it('a command that Ctrl+C ends stops the database that it has started, unless a gateway uses it', async () => {
  const { demo, DATA_DIR } = await usedFolder()
  const silent = net.createServer().listen(0, '127.0.0.1')
  atEnd('test', async () => void silent.close())
  await once(silent, 'listening')
  const { port } = silent.address() as net.AddressInfo
  /** Runs a command that waits for a database which does not answer, and ends it. */
  async function interruptOne(): Promise<void> {
    const args = ['src/cli/main.ts', 'copy-database', `postgres://u:p@127.0.0.1:${port}/x`]
    const env = { ...environment, DATA_DIR }
    const copy = watch(spawn(node, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] }))
    const [connection] = (await once(silent, 'connection')) as [net.Socket]
    connection.on('error', () => {})
    // npm passes on the signals that the terminal sends anyway.
    copy.kill('SIGINT')
    copy.kill('SIGINT')
    expect(await copy.exited).toEqual({ code: null, signal: 'SIGINT' })
    expect(copy.logs).toEqual([])
  }

  await interruptOne()
  await until(() => !existsSync(path.join(DATA_DIR, 'postgres/postmaster.pid')))

  const gateway = await startGateway({ env: { DATA_DIR } })
  await interruptOne()
  await send(gateway, demo, 'after')
  expect(await gateway.stop()).toEqual({ code: 0, signal: null })
  expect(gateway.logs.join('\n')).not.toContain('the embedded database has stopped')
})

it('stops within 10 s of SIGTERM with messages in progress and a stream open, and loses no message', async () => {
  const { demo, DATA_DIR } = await usedFolder()
  const env = { DATA_DIR, SANDBOX_LATENCY_MS: '2000', RATE_LIMIT_PER_SECOND: '100' }
  const first = await startGateway({ env })
  const stream = await fetch(`${first.url}/api/v1/events/stream`, { headers: { 'x-api-key': demo.apiKey } })
  const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => send(first, demo, `message ${n}`)))
  const before = performance.now()
  expect(await first.stop()).toEqual({ code: 0, signal: null })
  expect(performance.now() - before).toBeLessThan(allowed(10_000))
  await stream.text()

  const second = await startGateway({ env: { ...env, SANDBOX_LATENCY_MS: '20' } })
  for (const id of ids) await until(async () => (await messageOf(second, demo, id)).status === 'read')
})

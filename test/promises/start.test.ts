// What a newcomer and an operator are promised of starting and stopping, on the embedded database.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { api, atEnd, command, environment, type Gateway, root, spawnGateway, startGateway, until, watch } from '../kit/kit.ts'

// Most tests start several gateways, each with a database to make or to recover.
vi.setConfig({ testTimeout: 120_000 })

/** A folder for one test, as open to others as a checkout is. */
async function dataFolder(mode = 0o755): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'gateway-start-'))
  await chmod(folder, mode)
  atEnd('test', async () => {
    await databaseGone(folder)
    await rm(folder, { recursive: true, force: true })
  })
  return path.join(folder, 'data')
}

/** A killed gateway leaves its database running for the next one; the last test on a folder ends it. */
async function databaseGone(folder: string): Promise<void> {
  const lock = path.join(folder, 'data/postgres/postmaster.pid')
  if (existsSync(lock)) {
    await command(['doctor'], { env: { DATA_DIR: path.join(folder, 'data') } })
    await until(() => !existsSync(lock))
  }
}

interface DemoAccount {
  apiKey: string
  instanceId: string
}

function demoOf(gateway: { logs: string[] }): DemoAccount | undefined {
  const text = gateway.logs.join('\n')
  const apiKey = text.match(/svc_live_[0-9a-f]{64}/)?.[0]
  const instanceId = text.match(/"instanceId":"([0-9a-f-]{36})"/)?.[1]
  return apiKey && instanceId ? { apiKey, instanceId } : undefined
}

async function send(gateway: Gateway, demo: DemoAccount, text: string): Promise<string> {
  const { instanceId } = demo
  const { status, body } = await api(gateway, demo.apiKey).post('messages/send', {
    instanceId,
    to: '+4915112345678',
    type: 'text',
    text,
  })
  expect(status).toBe(201)
  return body.data.id
}

async function messageOf(gateway: Gateway, demo: DemoAccount, id: string) {
  return (await api(gateway, demo.apiKey).get(`messages/${id}`)).body.data
}

it('npm start serves, prints a demo account and a curl that works, and stops with npm', async () => {
  const DATA_DIR = await dataFolder()
  const npm = watch(spawn('npm', ['start'], { cwd: root, env: { ...environment, DATA_DIR }, stdio: ['ignore', 'pipe', 'pipe'] }))
  const [, url] = await npm.line(/^gateway ready on (http:\/\/127\.0\.0\.1:\d+)$/)
  const text = npm.logs.join('\n')

  // The very lines that were printed, as a newcomer pastes them.
  const lines = text.match(/^ {2}curl (?!-N)(?:.*\n)*?.*'$/m)?.[0] as string
  const curl = watch(spawn('sh', ['-c', lines], { stdio: ['ignore', 'pipe', 'pipe'] }))
  await curl.exited
  expect(curl.logs.join('\n')).toContain('"status":"queued"')
  const watching = watch(
    spawn('sh', ['-c', text.match(/^ {2}(curl -N .*)$/m)?.[1] as string], { stdio: ['ignore', 'pipe', 'pipe'] }),
  )
  await curl.exited
  const demo = demoOf(npm) as DemoAccount
  await until(
    async () => {
      await send({ url: url as string } as Gateway, demo, 'seen')
      return watching.logs.some((line) => line.includes('message.'))
    },
    { everyMs: 300 },
  )
  watching.kill('SIGKILL')

  expect(await npm.stop()).toEqual({ code: 0, signal: null })
  await expect(fetch(url as string)).rejects.toThrow()
  expect(existsSync(path.join(DATA_DIR, 'postgres/postmaster.pid'))).toBe(false)
})

it('keeps the data and prints the demo account once', async () => {
  const env = { DATA_DIR: await dataFolder() }
  const first = await startGateway({ env })
  const demo = demoOf(first) as DemoAccount
  const id = await send(first, demo, 'kept')
  expect(await first.stop()).toEqual({ code: 0, signal: null })

  const second = await startGateway({ env })
  expect(demoOf(second)).toBeUndefined()
  await until(async () => (await messageOf(second, demo, id)).status === 'read')
})

it('starts again after kill -9, on what was acknowledged, and finishes it', async () => {
  const env = { DATA_DIR: await dataFolder() }
  const first = await startGateway({ env })
  const demo = demoOf(first) as DemoAccount
  const ids = await Promise.all([1, 2, 3].map((n) => send(first, demo, `message ${n}`)))
  first.kill('SIGKILL')
  await first.exited

  const second = await startGateway({ env })
  for (const id of ids) await until(async () => (await messageOf(second, demo, id)).status === 'read', { timeoutMs: 25_000 })
})

it('starts again after its database was killed with it', async () => {
  const env = { DATA_DIR: await dataFolder() }
  const first = await startGateway({ env })
  const demo = demoOf(first) as DemoAccount
  const id = await send(first, demo, 'survives')
  const lock = await readFile(path.join(env.DATA_DIR, 'postgres/postmaster.pid'), 'utf8')
  first.kill('SIGKILL')
  process.kill(Number(lock.split('\n')[0]), 'SIGKILL')
  await first.exited

  const second = await startGateway({ env })
  expect((await messageOf(second, demo, id)).body).toBe('survives')
})

it('goes on when its database alone is killed', async () => {
  const env = { DATA_DIR: await dataFolder() }
  const gateway = await startGateway({ env })
  const demo = demoOf(gateway) as DemoAccount
  const id = await send(gateway, demo, 'before')
  const lock = await readFile(path.join(env.DATA_DIR, 'postgres/postmaster.pid'), 'utf8')
  process.kill(Number(lock.split('\n')[0]), 'SIGKILL')
  await gateway.line(/the embedded database is back/)
  await until(async () => (await messageOf(gateway, demo, id)).status === 'read', { timeoutMs: 25_000 })
  expect(await gateway.stop()).toEqual({ code: 0, signal: null })
})

it('is not stopped by a stale lock, even one whose number is another process now', async () => {
  const env = { DATA_DIR: await dataFolder() }
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

it('says in one sentence that the port is taken', async () => {
  const env = { DATA_DIR: await dataFolder() }
  const first = await startGateway({ env })
  const port = new URL(first.url).port
  const second = spawnGateway({ env: { DATA_DIR: await dataFolder(), PORT: port } })
  expect(await second.exited).toEqual({ code: 1, signal: null })
  expect(second.logs).toEqual([`127.0.0.1:${port} is in use already; stop what listens there or set PORT (0 takes any free one)`])
})

it('says in one sentence that another gateway has the folder, and leaves that one alone', async () => {
  const env = { DATA_DIR: await dataFolder() }
  const first = await startGateway({ env })
  const second = spawnGateway({ env })
  expect(await second.exited).toEqual({ code: 1, signal: null })
  expect(second.logs).toEqual([expect.stringContaining(`Another gateway (process ${first.pid}) already runs on `)])
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200)
})

it('lets one of two that start on an empty folder at once win', async () => {
  const env = { DATA_DIR: await dataFolder() }
  const two = [spawnGateway({ env }), spawnGateway({ env })]
  const ready = two.map((gateway) => gateway.line(/^gateway ready/).then(() => gateway))
  const winner = await Promise.any(ready)
  const loser = two.find((gateway) => gateway !== winner)
  expect(await loser?.exited).toEqual({ code: 1, signal: null })
  expect(loser?.logs).toEqual([expect.stringContaining('Another gateway')])
})

it('names all faults of the configuration and exits', async () => {
  const gateway = spawnGateway({ env: { PORT: 'x', ROLES: 'cook', DATABASE_URL: 'mysql://x' } })
  expect(await gateway.exited).toEqual({ code: 1, signal: null })
  expect(gateway.logs.map((line) => line.split(':')[0])).toEqual(['PORT', 'DATABASE_URL', 'ROLES', 'SECRET_KEY'])
})

it('says in one sentence that an outside database does not answer', async () => {
  const gateway = spawnGateway({ databaseUrl: 'postgres://u:secret@127.0.0.1:1/x' })
  expect(await gateway.exited).toEqual({ code: 1, signal: null })
  expect(gateway.logs).toEqual([expect.stringContaining('127.0.0.1:1 does not answer')])
  expect(gateway.logs.join()).not.toContain('secret')
})

it('keeps its secrets from other users', async () => {
  const DATA_DIR = await dataFolder()
  await startGateway({ env: { DATA_DIR } })
  for (const name of ['secret-key', 'database-password', 'postgres.log']) {
    expect((await stat(path.join(DATA_DIR, name))).mode & 0o077).toBe(0)
  }
})

it('works below a folder that only its user may enter', async () => {
  const gateway = await startGateway({ env: { DATA_DIR: await dataFolder(0o700) } })
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200)
})

it('lets operators work on its database while it runs, and while it does not', async () => {
  const env = { DATA_DIR: await dataFolder() }
  const account = (email: string) =>
    command(['account', 'create', '--email', email, '--name', 'N', '--plan', 'pro', '--json'], { env })
  // Before the first start, two at once.
  const [early] = await Promise.all([account('early@example.com'), account('too@example.com')])
  expect(early.code).toBe(0)

  const gateway = await startGateway({ env })
  // Someone has an account already, so nothing is demonstrated.
  expect(demoOf(gateway)).toBeUndefined()
  const beside = await account('beside@example.com')
  for (const { stdout } of [early, beside]) {
    expect((await api(gateway, JSON.parse(stdout).apiKey).get('me')).status).toBe(200)
  }
  await gateway.stop()
  expect((await command(['account', 'list'], { env })).stdout.trimEnd().split('\n')).toHaveLength(3)
  expect(existsSync(path.join(env.DATA_DIR, 'postgres/postmaster.pid'))).toBe(false)
})

it('stops within 10 s of SIGTERM with messages under way and a stream open, and loses none of them', async () => {
  const env = { DATA_DIR: await dataFolder(), SANDBOX_LATENCY_MS: '2000', RATE_LIMIT_PER_SECOND: '100' }
  const first = await startGateway({ env })
  const demo = demoOf(first) as DemoAccount
  const stream = await fetch(`${first.url}/api/v1/events/stream`, { headers: { 'x-api-key': demo.apiKey } })
  const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => send(first, demo, `message ${n}`)))
  const before = performance.now()
  expect(await first.stop()).toEqual({ code: 0, signal: null })
  expect(performance.now() - before).toBeLessThan(10_000)
  await stream.text()

  const second = await startGateway({ env: { ...env, SANDBOX_LATENCY_MS: '20' } })
  for (const id of ids) await until(async () => (await messageOf(second, demo, id)).status === 'read', { timeoutMs: 25_000 })
})

it.each([
  ['thrown', 'throw%20new%20Error(`unforeseen`)'],
  ['rejected', 'Promise.reject(new%20Error(`unforeseen`))'],
])('ends within a second of an unforeseen error that was %s, and leaves no database behind', async (_, code) => {
  const env = {
    DATA_DIR: await dataFolder(),
    NODE_OPTIONS: `--import=data:text/javascript,process.on(\`SIGUSR2\`,()=>{${code}})`,
  }
  const gateway = await startGateway({ env })
  const before = performance.now()
  gateway.kill('SIGUSR2')
  expect(await gateway.exited).toEqual({ code: 1, signal: null })
  expect(performance.now() - before).toBeLessThan(1_000)
  expect(gateway.logs.filter((line) => line.includes('"level":"fatal"'))).toEqual([expect.stringContaining('unforeseen')])
  await until(() => !existsSync(path.join(env.DATA_DIR, 'postgres/postmaster.pid')))
})

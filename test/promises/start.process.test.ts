// Proves that the first start works for newcomers and operators, and that its failures are explained, on the embedded database.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { environment, node, root } from '../kit/environment.ts'
import { type Gateway, spawnGateway, startGateway, startMs, watch } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'
import { dataFolder, demoOf, send } from './demo.ts'

it('npm start serves, prints a demo account and a working curl command, and stops with npm', async () => {
  const DATA_DIR = await dataFolder()
  const npm = watch(spawn('npm', ['start'], { cwd: root, env: { ...environment, DATA_DIR }, stdio: ['ignore', 'pipe', 'pipe'] }))
  const [, url] = await npm.line(/^gateway ready on (http:\/\/127\.0\.0\.1:\d+)$/, startMs)
  const text = npm.logs.join('\n')

  // The printed lines exactly, as a newcomer would paste them.
  const lines = text.match(/^ {2}curl (?!-N)(?:.*\n)*?.*'$/m)?.[0] as string
  const curl = watch(spawn('sh', ['-c', lines], { stdio: ['ignore', 'pipe', 'pipe'] }))
  await curl.exited
  expect(curl.logs.join('\n')).toContain('"status":"queued"')
  const watching = watch(
    spawn('sh', ['-c', text.match(/^ {2}(curl -N .*)$/m)?.[1] as string], { stdio: ['ignore', 'pipe', 'pipe'] }),
  )
  const demo = demoOf(npm)
  await until(
    async () => {
      await send({ url: url as string }, demo, 'seen')
      return watching.logs.some((line) => line.includes('message.'))
    },
    { everyMs: 300 },
  )
  watching.kill('SIGKILL')

  expect(await npm.stop()).toEqual({ code: 0, signal: null })
  await expect(fetch(url as string)).rejects.toThrow()
  expect(existsSync(path.join(DATA_DIR, 'postgres/postmaster.pid'))).toBe(false)
})

describe('a running gateway', () => {
  let DATA_DIR: string
  let gateway: Gateway

  beforeAll(async () => {
    DATA_DIR = await dataFolder(0o700)
    gateway = await startGateway({ env: { DATA_DIR } })
  })

  it('works below a folder that only its user may enter', async () => {
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200)
  })

  it('protects its secrets from other users', async () => {
    for (const name of ['secret-key', 'database-password', 'postgres.log']) {
      expect((await stat(path.join(DATA_DIR, name))).mode & 0o077).toBe(0)
    }
  })

  it('makes a second one exit with one sentence when the port is taken', async () => {
    const port = new URL(gateway.url).port
    const second = spawnGateway({ env: { DATA_DIR: await dataFolder(), PORT: port } })
    expect(await second.exited).toEqual({ code: 1, signal: null })
    expect(second.logs).toEqual([
      `127.0.0.1:${port} is already in use; stop the other program or set PORT (0 selects a free port)`,
    ])
  })

  it('makes a second one exit with one sentence when the data folder is taken, and is not disturbed by it', async () => {
    const second = spawnGateway({ env: { DATA_DIR } })
    expect(await second.exited).toEqual({ code: 1, signal: null })
    expect(second.logs).toEqual([expect.stringContaining(`Another gateway (process ${gateway.pid}) already uses `)])
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200)
  })
})

it('names all faults of the configuration and exits', async () => {
  const gateway = spawnGateway({ env: { PORT: 'x', ROLES: 'cook', DATABASE_URL: 'mysql://x' } })
  expect(await gateway.exited).toEqual({ code: 1, signal: null })
  expect(gateway.logs.map((line) => line.split(':')[0])).toEqual(['PORT', 'DATABASE_URL', 'ROLES', 'SECRET_KEY'])
})

it('refuses arguments, so that a mistyped command starts nothing', async () => {
  const env = { ...environment, DATA_DIR: await dataFolder() }
  const gateway = watch(spawn(node, [inject('program'), 'doctor'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] }))
  expect(await gateway.exited).toEqual({ code: 1, signal: null })
  expect(gateway.logs).toEqual([
    expect.stringMatching(/^The gateway takes no arguments \(doctor\); set environment variables, or run/),
  ])
})

it('reports in one sentence that DATA_DIR is not a folder', async () => {
  const DATA_DIR = await dataFolder()
  await writeFile(DATA_DIR, '')
  const gateway = spawnGateway({ env: { DATA_DIR } })
  expect(await gateway.exited).toEqual({ code: 1, signal: null })
  expect(gateway.logs).toEqual([expect.stringMatching(/^\S+ cannot be written \(EEXIST\); check DATA_DIR/)])
})

it('reports in one sentence that an external database does not answer', async () => {
  const gateway = spawnGateway({ databaseUrl: 'postgres://u:secret@127.0.0.1:1/x' })
  expect(await gateway.exited).toEqual({ code: 1, signal: null })
  expect(gateway.logs).toEqual([expect.stringContaining('127.0.0.1:1 does not answer')])
  expect(gateway.logs.join()).not.toContain('secret')
})

// Starts that meet another process on the same data folder: a second gateway, and commands of the operator.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { api } from '../kit/api.ts'
import { commandProcess } from '../kit/command.ts'
import { spawnGateway, startGateway, startMs } from '../kit/gateway.ts'
import { dataFolder } from './demo.ts'

// Both create a database first.
vi.setConfig({ testTimeout: 300_000 })

it('lets exactly one of two gateways start on an empty folder at once', async () => {
  const env = { DATA_DIR: await dataFolder() }
  const two = [spawnGateway({ env }), spawnGateway({ env })]
  const ready = two.map((gateway) => gateway.line(/^gateway ready/, startMs).then(() => gateway))
  const winner = await Promise.any(ready)
  const loser = two.find((gateway) => gateway !== winner)
  expect(await loser?.exited).toEqual({ code: 1, signal: null })
  expect(loser?.logs).toEqual([expect.stringContaining('Another gateway')])
})

it('lets operator commands use its database while it runs, and while it does not', async () => {
  const env = { DATA_DIR: await dataFolder() }
  const account = (email: string) =>
    commandProcess(['account', 'create', '--email', email, '--name', 'N', '--plan', 'pro', '--json'], { env })
  // Two commands at once, before the first start.
  const [early, too] = await Promise.all([account('early@example.com'), account('too@example.com')])
  for (const { code, stderr } of [early, too]) expect(code, stderr).toBe(0)

  const gateway = await startGateway({ env })
  // An account exists already, so no demo account is created.
  expect(gateway.logs.join()).not.toContain('svc_live_')
  const beside = await account('beside@example.com')
  for (const { stdout } of [early, beside]) {
    expect((await api(gateway, JSON.parse(stdout).apiKey).get('me')).status).toBe(200)
  }
  await gateway.stop()
  expect((await commandProcess(['account', 'list'], { env })).stdout.trimEnd().split('\n')).toHaveLength(3)
  expect(existsSync(path.join(env.DATA_DIR, 'postgres/postmaster.pid'))).toBe(false)
})

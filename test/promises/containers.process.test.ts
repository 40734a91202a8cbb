// The gateway starts and stops in containers, whose processes have fewer rights and files than those of a machine.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, inject, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { environment, node, root } from '../kit/environment.ts'
import { outsideDatabase, startMs, watch } from '../kit/gateway.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { dataFolder } from './demo.ts'

it('finds its embedded database without CAP_SYS_PTRACE, which root of a container lacks', async () => {
  const DATA_DIR = await dataFolder()
  // An ordinary user has no such right in the first place.
  const limited = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-sys_ptrace'] : []
  const [command, ...args] = [...limited, node, inject('program')]
  const env = { ...environment, DATA_DIR }
  const gateway = watch(spawn(command as string, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] }))
  await gateway.line(/^gateway ready on /, startMs)
  expect(await gateway.stop()).toEqual({ code: 0, signal: null })
  expect(existsSync(path.join(DATA_DIR, 'postgres/postmaster.pid'))).toBe(false)
})

const hasIpv6 = Object.values(os.networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === '::1'))

it.runIf(hasIpv6)('prints links that a browser opens when it listens on all addresses of IPv6', async () => {
  const gateway = await openGateway({ databaseUrl: await cloneDatabase(), env: { HOST: '::', DEMO: '1' } })
  expect(gateway.url).toMatch(/^http:\/\/localhost:\d+$/)
  expect(gateway.logs.join('\n')).not.toContain('[::]')
  expect((await fetch(`${gateway.url}/livez`)).status).toBe(200)
})

it('stops at a signal that comes while its modules load, which the first process of a container must handle itself', async () => {
  const hooks = `import { registerHooks } from 'node:module'
    registerHooks({ load(url, context, next) {
      if (url.endsWith('/src/run.ts')) process.kill(process.pid, 'SIGTERM')
      return next(url, context)
    } })`
  const NODE_OPTIONS = `--import "data:text/javascript,${encodeURIComponent(hooks)}"`
  const env = { ...environment, DATA_DIR: await dataFolder(), ...outsideDatabase(await cloneDatabase()), NODE_OPTIONS }
  const draining = { ...env, DRAIN_SECONDS: '30' }
  const gateway = watch(spawn(node, ['src/main.ts'], { cwd: root, env: draining, stdio: ['ignore', 'pipe', 'pipe'] }))
  expect(await gateway.exited).toEqual({ code: 0, signal: null })
  expect(gateway.logs, 'it takes no work any more, and no balancer has sent it requests').toEqual([])
})

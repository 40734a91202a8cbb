// A gateway whose log cannot be written goes on and stops as always: the disk of the log is full, or its terminal was closed.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, inject, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { environment, node, root } from '../kit/environment.ts'
import { outsideDatabase, ownDataDir, startGateway, watch } from '../kit/gateway.ts'
import { ownPort } from '../kit/port.ts'
import { until } from '../kit/until.ts'

/** A device of Linux on which every write fails as on a full disk. */
const full = '/dev/full'

async function isAlive(url: string): Promise<boolean> {
  const { ok } = await fetch(`${url}/livez`, { signal: AbortSignal.timeout(10_000) })
  return ok
}

it.skipIf(!existsSync(full))('starts, serves on, and stops cleanly at SIGHUP, while no line can be written', async () => {
  const port = await ownPort()
  // The demo account makes the start print several texts.
  const own = { PORT: String(port), ACCESS_LOG: '1', DATA_DIR: ownDataDir(), DEMO: '1' }
  const env = { ...environment, ...outsideDatabase(await cloneDatabase()), ...own }
  const redirected = `exec "${node}" "${inject('program')}" > ${full} 2>&1`
  const gateway = watch(spawn('sh', ['-c', redirected], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] }))
  const url = `http://127.0.0.1:${port}`
  await until(() => isAlive(url).catch(() => false))
  // Each request logs a line.
  for (let requests = 0; requests < 50; requests++) expect(await isAlive(url)).toBe(true)
  gateway.kill('SIGHUP')
  expect(await gateway.exited).toEqual({ code: 0, signal: null })
})

it('stops cleanly at SIGHUP, and writes so', async () => {
  const gateway = await startGateway({ databaseUrl: await cloneDatabase() })
  gateway.kill('SIGHUP')
  expect(await gateway.exited).toEqual({ code: 0, signal: null })
  expect(gateway.logs.at(-1)).toMatch(/"signal":"SIGHUP".*"msg":"stopping"/)
})

it.each(['process.exit()', ''])('writes every line in order until the process ends: %j', async (end) => {
  const script = `
    const { createLog } = await import('./src/core/log.ts')
    const log = createLog('info')
    for (let n = 0; n < 1000; n++) log.info({ n }, 'a line')
    ${end}`
  const args = ['--input-type=module', '-e', script]
  const running = watch(spawn(node, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] }))
  expect(await running.exited).toMatchObject({ code: 0 })
  expect(running.logs.map((line) => JSON.parse(line).n)).toEqual(Array.from({ length: 1000 }, (_, n) => n))
})

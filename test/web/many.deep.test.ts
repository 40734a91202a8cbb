// 500 paired idle instances in one process: their memory, the event loop, and their return after the network restarts.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { residentBytes } from '../kit/resident.ts'
import { until } from '../kit/until.ts'
import { environmentOf, openLoopback, rowsOf } from './rig.ts'

const count = 500
const digitsOf = (n: number) => String(390_000_100_000 + n)

/** Prints the 99th percentile of the event loop's delay, in milliseconds, at SIGUSR2, and begins anew. */
const watchLoop = `data:text/javascript,${encodeURIComponent(`
  import { monitorEventLoopDelay } from 'node:perf_hooks'
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  let n = 0
  process.on('SIGUSR2', () => { console.log('loop ' + n++ + ' ' + (delay.percentile(99) / 1e6 - 10).toFixed(1)); delay.reset() })
`)}`

it('500 idle instances cost little, keep the event loop free, and come back within 60 s', { timeout: 600_000 }, async () => {
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback()
  const gateway = await startGateway({ databaseUrl, env: { ...environmentOf(network), NODE_OPTIONS: `--import=${watchLoop}` } })
  const { userId, workspaceId } = await createAccount(databaseUrl)
  let asked = 0
  const p99 = async () => {
    gateway.kill('SIGUSR2')
    return Number((await gateway.line(new RegExp(`^loop ${asked++} (\\S+)$`)))[1])
  }
  /** Over ten seconds, in milliseconds. */
  const delayOfLoop = async () => {
    await p99()
    await new Promise((resolve) => setTimeout(resolve, 10_000))
    return await p99()
  }
  const add = async (from: number, to: number) => {
    const ids = Array.from({ length: to - from }, () => randomUUID())
    await rowsOf(
      databaseUrl,
      `with made as (insert into instances (id, "workspaceId", "userId", name, provider, status, settings)
        select unnest($1::uuid[]), $2, $3, 'Many', 'web', 'connecting', '{}' returning id)
       insert into web_sessions ("instanceId") select id from made`,
      [ids, workspaceId, userId],
    )
    let next = from
    const digits = new Map<string, string>()
    const scanned = new Set<string>()
    await until(
      async () => {
        const shown = await rowsOf(databaseUrl, `select id::text, qr from instances where status = 'pairing' and qr is not null`)
        for (const { id, qr } of shown) {
          // A connection that was lost before the scan shows another code.
          if (scanned.has(qr)) continue
          if (!digits.has(id)) digits.set(id, digitsOf(next++))
          network.scan(qr, digits.get(id) as string)
          scanned.add(qr)
        }
        return network.connected.length === to
      },
      { timeoutMs: 300_000, everyMs: 100 },
    )
  }
  // The first instance loads the package.
  await add(0, 1)
  const alone = await delayOfLoop()
  const before = residentBytes(gateway.pid)
  await add(1, count)
  const perInstance = (residentBytes(gateway.pid) - before) / (count - 1)
  console.log(`memory of one idle instance: ${(perInstance / 2 ** 20).toFixed(2)} MiB`)
  expect(perInstance).toBeLessThan(3 * 2 ** 20)

  const idle = await delayOfLoop()
  console.log(`event loop of ${count} idle instances, p99: ${idle} ms; of one instance: ${alone} ms`)

  const logins = network.logins
  await network.close()
  await network.listen()
  const restartedAt = Date.now()
  await until(() => network.logins >= logins + count && network.connected.length === count, { timeoutMs: 180_000 })
  const backMs = Date.now() - restartedAt
  const meanwhile = await p99()
  console.log(`all back after ${backMs} ms, event loop meanwhile, p99: ${meanwhile} ms`)
  // Other work on the machine delays the loop of one instance as much.
  expect(idle).toBeLessThan(Math.max(50, 2 * alone))
  expect(meanwhile).toBeLessThan(Math.max(100, 4 * alone))
  expect(backMs).toBeLessThan(60_000)
  expect(network.replaced).toBe(0)
})

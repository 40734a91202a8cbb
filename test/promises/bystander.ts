// A bystander process during an attack: it repeatedly requests /livez from the gateway, on a new connection each time, sends
// the same request to a bare server, and samples the gateway's resident memory. For each line on its input it prints the worst
// values since the line before.
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { residentBytes } from '../kit/resident.ts'

const [port, pid] = process.argv.slice(2)
const none = { ms: 0, bareMs: 0, rssBytes: 0, asked: 0 }
let worst = none

/** A reference server: its delays are those of the machine itself. */
const bare = createServer((_, response) => response.end('ok'))
await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve))
const { port: barePort } = bare.address() as AddressInfo

/** Requests /livez once; resolves to the milliseconds that it took. */
async function ask(port: number | string | undefined): Promise<number> {
  const begun = performance.now()
  await new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/livez', agent: false }, (response) => {
      response.resume().on('end', resolve)
    }).on('error', reject)
  })
  return performance.now() - begun
}

const looks: string[] = []
createInterface({ input: process.stdin }).on('line', (line) => looks.push(line))

for (;;) {
  const [ms, bareMs] = await Promise.all([ask(port), ask(barePort)])
  worst = {
    ms: Math.max(worst.ms, ms),
    bareMs: Math.max(worst.bareMs, bareMs),
    rssBytes: Math.max(worst.rssBytes, residentBytes(Number(pid))),
    asked: worst.asked + 1,
  }
  for (const look of looks.splice(0)) {
    console.log(`${look} ${JSON.stringify(worst)}`)
    worst = none
  }
  await pause(5)
}

// A bystander of an attack, in a process of its own: asks for /livez again and again, on a new connection each time, and
// watches the gateway's resident memory. A line on its input is answered with the worst since the line before.
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

const [port, pid] = process.argv.slice(2)
let worst = { ms: 0, rssBytes: 0, asked: 0 }

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/livez', agent: false }, (response) => {
      response.resume().on('end', resolve)
    }).on('error', reject)
  })
}

function residentBytes(): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}

createInterface({ input: process.stdin }).on('line', (line) => {
  console.log(`${line} ${JSON.stringify(worst)}`)
  worst = { ms: 0, rssBytes: 0, asked: 0 }
})

for (;;) {
  const begun = performance.now()
  await ask()
  const ms = performance.now() - begun
  worst = { ms: Math.max(worst.ms, ms), rssBytes: Math.max(worst.rssBytes, residentBytes()), asked: worst.asked + 1 }
  await pause(5)
}

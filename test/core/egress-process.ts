// A process that posts to bad receivers, and prints by how much its memory grew at most beyond what a good receiver needs.
import { createEgress } from '../../src/core/network/egress.ts'

const egress = createEgress({ allowed: ['127.0.0.1/32'] })
const [good, ...bad] = process.argv.slice(2) as [string, ...string[]]

async function post(url: string): Promise<void> {
  await egress.post(url, { headers: {}, body: Buffer.alloc(0), timeoutMs: 300 })
}

for (let i = 0; i < 100; i++) await post(good)
globalThis.gc?.()
const before = process.memoryUsage.rss()
let most = before
const look = () => {
  most = Math.max(most, process.memoryUsage.rss())
}
const looking = setInterval(look, 5)
for (let i = 0; i < 20; i++) {
  await Promise.all(bad.map(post))
  look()
}
clearInterval(looking)
console.log(`grew by ${((most - before) / 1e6).toFixed(1)} MB`)
await egress[Symbol.asyncDispose]()

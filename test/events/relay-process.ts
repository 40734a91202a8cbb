// A process that only runs the relay, for tests that kill it. It prints `candidate` when it waits for the lead.
import { openApp } from '../../src/app.ts'
import { readConfig } from '../../src/core/config/config.ts'
import { startRelay } from '../../src/events/log/relay.ts'

const { config, secrets } = readConfig()
const app = await openApp({ config, secrets, databaseUrl: config.databaseUrl as string })
const relay = await startRelay(app, [])
console.log('candidate')
process.on('SIGTERM', async () => {
  await relay[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

// Starts the gateway (configuration, database, jobs, server), and stops it in reverse order.

import { keyUse } from './accounts/keys/last-used.ts'
import { mailer } from './accounts/mail/mailer.ts'
import { openApp } from './app.ts'
import { foreignKey, opensStored } from './cli/stored-secrets.ts'
import { readConfig } from './core/config/config.ts'
import { openEmbedded } from './core/database/embedded.ts'
import { migrate } from './core/database/migrate.ts'
import { boundHeap } from './core/heap.ts'
import { createLog } from './core/log.ts'
import { boundFetch } from './core/network/outbound.ts'
import { sentenceOf } from './core/sentence.ts'
import { createDemo, demoKey, demoLinks, demoText } from './demo/demo.ts'
import { handsOutDemoKey } from './demo/links.ts'
import { mediaStore } from './media/open-store.ts'
import { createServer } from './server.ts'
import { createQueues, startWorker } from './worker.ts'

/** Time limit of the shutdown, in milliseconds. Unfinished work is taken over by another process when its lease expires. */
const stopWithinMs = 9_000

async function run(stopped: Promise<string>): Promise<void> {
  const { config, secrets } = readConfig()
  boundFetch()
  const log = createLog(config.logLevel)
  // Without a handler, Node prints the error in its own format. This one writes a log line.
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error.stack ?? String(error) }, 'unforeseen error; the process ends')
    process.exit(1)
  })

  await using parts = new AsyncDisposableStack()
  const onTrouble = (message: string) => log.error(message)
  const database = config.databaseUrl
    ? { url: config.databaseUrl, secretKey: undefined }
    : parts.use(await openEmbedded({ dataDir: config.dataDir, as: 'gateway', onTrouble }))
  await migrate(database.url, (message) => log.info(message))
  const secretKey = secrets.secretKey ?? database.secretKey
  const app = parts.use(await openApp({ config, secrets: { ...secrets, secretKey }, databaseUrl: database.url }))
  // Opened here, so that a store that is not installed ends the start with its own words.
  mediaStore(app)
  parts.use(keyUse(app))
  parts.use(mailer(app))
  // The gateway starts with a wrong SECRET_KEY all the same, because the lost secrets can be created again.
  if ((await opensStored(app.pool, app.secrets.secretKey as Buffer)) === false) log.error(foreignKey)
  await app.boss.start()
  await createQueues(app)
  parts.use(await startWorker(app))

  if (config.roles.has('http')) {
    const server = await createServer(app)
    parts.defer(() => server.close())
    const address = await server.listen()
    app.address = address
    config.publicUrl ??= address
    const demo = config.demo ? await createDemo(app) : undefined
    if (demo) console.log(demoText(demo, address))
    if (handsOutDemoKey(app) && (await demoKey(app))) console.log(demoLinks(config.publicUrl, server.links.make))
    console.log(`gateway ready on ${address}`)
  } else {
    console.log(`gateway ready for ${[...config.roles].join(' and ')}`)
  }

  // Not earlier: while modules load, a heap that may grow saves a tenth of the start.
  boundHeap()
  const signal = await stopped
  app.stopping = true
  log.info({ signal }, 'stopping')
}

/** Resolves at the first stop signal. Later signals are ignored, because npm forwards signals that the terminal sends anyway. */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      process.on(name, () => {
        setTimeout(() => process.exit(), stopWithinMs).unref()
        resolve(name)
      })
    }
  })
}

try {
  await run(stopSignal())
} catch (error) {
  console.error(sentenceOf(error))
  process.exitCode = 1
}
process.exit()

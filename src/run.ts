// The process: reads the configuration, opens and migrates the database, runs the gateway until a stop signal.
import { setTimeout as pause } from 'node:timers/promises'
import { readConfig } from './core/config/config.ts'
import { openEmbedded } from './core/database/embedded.ts'
import { migrate } from './core/database/migrate.ts'
import { adviseOnSettings } from './core/database/pooler.ts'
import { boundHeap } from './core/heap.ts'
import { createLog } from './core/log.ts'
import { boundFetch } from './core/network/outbound.ts'
import { sentenceOf } from './core/sentence.ts'
import { openGateway } from './gateway.ts'

/** Time limit of the shutdown, in milliseconds. Unfinished work is taken over by another process when its lease expires. */
const stopWithinMs = 9_000
/** Set once a stop signal has come. */
let deadline: NodeJS.Timeout | undefined

async function run(stopped: Promise<string>): Promise<void> {
  const [argument] = process.argv.slice(2)
  if (argument) {
    throw new Error(
      `The gateway takes no arguments (${argument}); set environment variables, or run a command by \`npm run -s gateway -- COMMAND\``,
    )
  }
  const { config, secrets } = readConfig()
  boundFetch()
  const log = createLog(config.logLevel)
  // Without a handler, Node prints the error in its own format. This one writes a log line.
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error.stack ?? String(error) }, 'unforeseen error; the process ends')
    process.exit(1)
  })
  // Texts that cannot be printed are lost, as lines of the log are.
  process.stdout.on('error', () => {})

  await using parts = new AsyncDisposableStack()
  const onTrouble = (message: string) => log.error(message)
  const database = config.databaseUrl
    ? { url: config.databaseUrl, secretKey: undefined }
    : parts.use(await openEmbedded({ dataDir: config.dataDir, as: 'gateway', onTrouble }))
  if (deadline) return
  await migrate(config.databaseDirectUrl ?? database.url, (message) => log.info(message))
  const advice = config.databaseDirectUrl && (await adviseOnSettings(database.url))
  if (advice) log.warn(advice)
  if (deadline) return
  const secretKey = secrets.secretKey ?? database.secretKey
  const gateway = { config, secrets: { ...secrets, secretKey }, databaseUrl: database.url, log, print: console.log }
  const { app } = parts.use(await openGateway(gateway))

  // Not earlier: while modules load, a heap that may grow saves a tenth of the start.
  boundHeap()
  const signal = await stopped
  if (config.drainMs > 0) {
    log.info({ signal, ms: config.drainMs }, 'draining')
    app.draining = true
    endWithin(config.drainMs + stopWithinMs)
    await pause(config.drainMs)
  }
  log.info({ signal }, 'stopping')
}

/**
 * Resolves at the first stop signal. Later signals are ignored, because npm forwards signals that the terminal sends anyway. SIGHUP comes
 * from a terminal that is closed.
 */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      // main.cjs has ended the process at them until now. A signal would be lost while nobody listens.
      const before = process.listeners(name)
      process.on(name, () => {
        if (!deadline) endWithin(stopWithinMs)
        resolve(name)
      })
      for (const listener of before) process.off(name, listener)
    }
  })
}

/** Ends the process after that time, in milliseconds, whatever it waits for. */
function endWithin(ms: number): void {
  clearTimeout(deadline)
  deadline = setTimeout(() => process.exit(), ms).unref()
}

try {
  await run(stopSignal())
} catch (error) {
  console.error(sentenceOf(error))
  process.exitCode = 1
}
process.exit()

// Runs a gateway inside this process: App, queues, background work, server. run.ts does it once, tests as often as they need.
import { keyUse } from './accounts/keys/key-use.ts'
import { consoleUrl } from './accounts/mail/console-url.ts'
import { mailer } from './accounts/mail/mailer.ts'
import { makeSignInLink } from './accounts/sign-in/link.ts'
import { setHashMemory } from './accounts/sign-in/password.ts'
import { openApp } from './app.ts'
import { foreignKey, opensStored } from './cli/stored-secrets.ts'
import type { App, AppOptions } from './core/app.ts'
import { version } from './core/version.ts'
import { createDemo, demoEmail, demoKey, demoLinks, demoText } from './demo/demo.ts'
import { handsOutDemoKey } from './demo/links.ts'
import { createHealthServer } from './http/health-server.ts'
import { mediaStore } from './media/open-store.ts'
import { awaitWritable } from './operator/nodes.sql.ts'
import { startNode } from './operator/nodes.ts'
import { createServer } from './server.ts'
import { createQueues, startWorker } from './worker.ts'

export interface GatewayOptions extends Omit<AppOptions, 'hooks'> {
  /** Receives the lines for the operator: about the demo account, and that the gateway is ready. */
  print: (line: string) => void
}

/** Starts it on a migrated database. The returned App is disposed of with everything else, in reverse order. */
export async function openGateway({ print, ...options }: GatewayOptions): Promise<{ app: App } & AsyncDisposable> {
  await using parts = new AsyncDisposableStack()
  const { config } = options
  if (config.hashMemoryKib) setHashMemory(config.hashMemoryKib)
  const app = parts.use(await openApp(options))
  // It closes after the work, so that it answers while jobs finish.
  const health = config.healthPort === undefined ? undefined : parts.use(await createHealthServer(app, config.healthPort))
  // Opened here, so that a store that is not installed ends the start with its own words.
  mediaStore(app)
  parts.use(keyUse(app))
  parts.use(mailer(app))
  // The gateway starts with a wrong SECRET_KEY all the same, because the lost secrets can be created again.
  const { secretKey, previousSecretKey } = app.secrets
  if ((await opensStored(app.pool, secretKey as Buffer, previousSecretKey)) === false) app.log.error(foreignKey)
  // If another session locks the tables, the start ends here with the reason. The job queue would only time out.
  await awaitWritable(app.pool)
  await app.boss.start()
  await createQueues(app)
  parts.use(await startWorker(app))
  parts.use(await startNode(app))

  if (config.roles.has('http')) {
    const server = await createServer(app)
    parts.defer(() => server.close())
    const address = await server.listen()
    app.address = address
    config.publicUrl ??= address
    await listenForProbes()
    const demo = config.demo ? await createDemo(app) : undefined
    if (demo) print(demoText(demo, address))
    if (handsOutDemoKey(app) && (await demoKey(app))) {
      print(demoLinks(config.publicUrl, server.links.make))
      print(`console: ${await makeSignInLink(app.db, { email: demoEmail, base: consoleUrl(app) })}\n`)
    }
    print(`gateway ready on ${address}`)
    app.log.info({ url: address, roles: [...config.roles], version }, 'gateway ready')
  } else {
    await listenForProbes()
    print(`gateway ready for ${[...config.roles].join(' and ')}`)
    app.log.info({ roles: [...config.roles], version }, 'gateway ready')
  }
  parts.defer(() => {
    app.stopping = true
  })
  const opened = parts.move()
  return { app, [Symbol.asyncDispose]: () => opened.disposeAsync() }

  /** Called once the process can work, because orchestrators take an open port for that. */
  async function listenForProbes(): Promise<void> {
    if (health) print(`probes and metrics on ${await health.listen()}`)
  }
}

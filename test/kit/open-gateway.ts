// Runs a gateway inside the test's process, which costs a tenth of a child process. For tests that neither kill nor freeze it, and
// that measure nothing.
import type { App } from '../../src/core/app.ts'
import { atEnd } from './at-end.ts'
import { environment } from './environment.ts'
import { type Gateway, type GatewayOptions, outsideDatabase, ownDataDir, type Running, startGateway } from './gateway.ts'
import { until } from './until.ts'

export interface OpenGateway extends Pick<Running, 'logs' | 'line'> {
  /** `http://127.0.0.1:PORT`. */
  url: string
  /** Stops it as SIGTERM does. */
  stop: () => Promise<unknown>
}

/** One in this process, whose parts a test can replace. */
export interface InnerGateway extends OpenGateway {
  app: App
}

/** Starts a gateway on a clone of the template. It ends with the test, or with the file when no test runs. */
export async function openGateway({ databaseUrl, env }: GatewayOptions & { databaseUrl: string }): Promise<InnerGateway> {
  // Loaded here, because most tests need none of it.
  const [{ openGateway: open }, { readConfig }, { createLog }] = await Promise.all([
    import('../../src/gateway.ts'),
    import('../../src/core/config/config.ts'),
    import('../../src/core/log.ts'),
  ])
  const { config, secrets } = readConfig({ ...environment, DATA_DIR: ownDataDir(), ...outsideDatabase(databaseUrl), ...env })
  const logs: string[] = []
  const print = (text: string) => void logs.push(...text.trimEnd().split('\n'))
  const log = createLog(config.logLevel, { write: print })
  // Released when it has ended: vitest keeps the variables of all test files, and an App holds 5 MB.
  let gateway: Awaited<ReturnType<typeof open>> | undefined = await open({ config, secrets, databaseUrl, log, print })
  let stopped: PromiseLike<void> | undefined
  const stop = async () => {
    stopped ??= gateway?.[Symbol.asyncDispose]()
    await stopped
    gateway = undefined
  }
  atEnd('test', stop)
  return {
    url: gateway.app.address as string,
    get app() {
      if (!gateway) throw new Error('This gateway has ended.')
      return gateway.app
    },
    logs,
    stop,
    line: (pattern, timeoutMs) => until(() => logs.map((line) => line.match(pattern)).find(Boolean), { timeoutMs }),
  }
}

/** Two gateways on one database and in two processes: this one, and a child process. */
export async function openGateways(options: GatewayOptions & { databaseUrl: string }): Promise<[OpenGateway, Gateway]> {
  return await Promise.all([openGateway(options), startGateway(options)])
}

// The gateways of the lab: processes as operators start them, on fixed ports, so that HAProxy finds them again after a restart.
import path from 'node:path'
import { node, root, secretKey } from '../kit/environment.ts'
import { createLine } from '../kit/line.ts'
import { ownPort } from '../kit/port.ts'
import { until } from '../kit/until.ts'
import type { Place } from './place.ts'
import { createProgram, type Program } from './program.ts'

export interface Node {
  port: number
  program: Program
  /** Starts it and waits until it is ready. Its clock is ahead of the others by `aheadMs` until its next start. */
  start: (aheadMs?: number) => Promise<void>
  /** Waits until it is ready. */
  untilReady: () => Promise<void>
  /** Brings nothing between it and its database, without a word to either, until the returned function is called. */
  cut: () => () => void
}

export async function nodePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) ports.push(await ownPort())
  return ports
}

interface NodeOptions {
  number: number
  port: number
  publicUrl: string
  /** Leads to the database through the pooler if there is one. */
  databaseUrl: string
  /** Leads past the pooler; undefined without one. */
  directUrl: string | undefined
  /** The folder whose `src/main.ts` runs; this repository by default. */
  program?: string | undefined
  /** Adds to the variables of the lab, or overrides them. */
  env?: Record<string, string> | undefined
}

export async function openNode(place: Place, parts: AsyncDisposableStack, options: NodeOptions): Promise<Node> {
  const { number, port, publicUrl, databaseUrl, directUrl, program: folder = root, env } = options
  const line = parts.use(await createLine(databaseUrl))
  const directLine = directUrl ? parts.use(await createLine(directUrl)) : undefined
  const program = createProgram({
    name: `node${number}`,
    command: node,
    args: [path.join(folder, 'src/main.ts')],
    cwd: folder,
    folder: place.folder,
    env: {
      HOME: process.env.HOME ?? '/',
      NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/node'),
      PORT: String(port),
      PUBLIC_URL: publicUrl,
      DATABASE_URL: line.url,
      ...(directLine && { DATABASE_DIRECT_URL: directLine.url }),
      SECRET_KEY: secretKey,
      // Files that are uploaded through one node must not reach another by its disk.
      DATA_DIR: path.join(place.folder, `data${number}`),
      ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32',
      RATE_LIMIT_PER_SECOND: '100000',
      WEBHOOK_RETRY_BASE_SECONDS: '1',
      // HAProxy notices within a second.
      DRAIN_SECONDS: '2',
      LOG_LEVEL: 'info',
      TRUST_PROXY: 'loopback',
      ...env,
    },
  })
  parts.defer(() => program.end())
  const untilReady = async () => {
    await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok, { timeoutMs: 120_000, everyMs: 100 })
  }
  return {
    port,
    program,
    async start(aheadMs) {
      program.start(aheadMs ? { NODE_OPTIONS: `--import=${clockAhead(aheadMs)}` } : {})
      await untilReady()
    },
    untilReady,
    cut() {
      const mend = [line.cut(), directLine?.cut()]
      return () => {
        for (const one of mend) one?.()
      }
    },
  }
}

/** The URL of a module that sets the clock of its process ahead. */
function clockAhead(ms: number): string {
  const text = `const { now } = Date
globalThis.Date = class extends Date {
  constructor(...given) { given.length ? super(...given) : super(now() + ${ms}) }
  static now() { return now() + ${ms} }
}`
  return `data:text/javascript,${encodeURIComponent(text)}`
}

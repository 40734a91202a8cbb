// The gateways of the lab: processes as operators start them, on fixed ports, so that HAProxy finds them again after a restart.
import path from 'node:path'
import { node, root, secretKey } from '../kit/environment.ts'
import { ownPort } from '../kit/port.ts'
import { until } from '../kit/until.ts'
import type { Place } from './place.ts'
import { createProgram, type Program } from './program.ts'

export interface Node {
  port: number
  program: Program
  /** Starts it and waits until it is ready. */
  start: () => Promise<void>
}

export async function nodePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) ports.push(await ownPort())
  return ports
}

export interface Databases {
  /** Through the pooler, if there is one. */
  url: string
  directUrl: string | undefined
}

export function createNode(place: Place, number: number, port: number, publicUrl: string, { url, directUrl }: Databases): Node {
  const program = createProgram({
    name: `node${number}`,
    command: node,
    args: [path.join(root, 'src/main.ts')],
    cwd: root,
    folder: place.folder,
    env: {
      HOME: process.env.HOME ?? '/',
      NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/node'),
      PORT: String(port),
      PUBLIC_URL: publicUrl,
      DATABASE_URL: url,
      ...(directUrl && { DATABASE_DIRECT_URL: directUrl }),
      SECRET_KEY: secretKey,
      DATA_DIR: path.join(place.folder, 'data'),
      ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32',
      RATE_LIMIT_PER_SECOND: '100000',
      WEBHOOK_RETRY_BASE_SECONDS: '1',
      LOG_LEVEL: 'info',
      TRUST_PROXY: 'loopback',
    },
  })
  return {
    port,
    program,
    async start() {
      program.start()
      await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok, { timeoutMs: 120_000, everyMs: 100 })
    },
  }
}

// Helpers for tests of outbound requests: an egress client that may reach this machine, and raw servers.
import type { Server } from 'node:net'
import { createEgress, type Egress, type EgressOptions, type PostOutcome } from '../../src/core/network/egress.ts'
import { atEnd } from '../kit/at-end.ts'

const loopback = ['127.0.0.1/32']

/** An egress client, which is closed at the end of the test. */
export function egressWith(options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({ allowed: loopback, ...options })
  atEnd('test', async () => egress[Symbol.asyncDispose]())
  return egress
}

/** Sends a small body. The default timeout is long, so that a slow machine causes no timeout in tests of other things. */
export function post(egress: Egress, url: string, timeoutMs = 20_000): Promise<PostOutcome> {
  return egress.post(url, { headers: { 'content-type': 'application/json' }, body: Buffer.from('{"a":1}'), timeoutMs })
}
/** Starts a server on this machine, which ends with the test; returns its URL. */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd('test', async () => void server.close())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`
}

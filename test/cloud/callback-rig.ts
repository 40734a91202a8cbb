// Setup for tests of webhooks that Meta is pointed at: a server that stands for our public address and answers Meta's verification.
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from '../kit/at-end.ts'
import { openRig, type Rig } from './rig.ts'
import type { MetaNumber } from './stand-in.ts'

export interface Callback {
  publicUrl: string
  /** The verify tokens that it finds right. */
  verified: Set<string>
}

export interface CallbackRig extends Callback {
  rig: Rig
  /** An instance whose verify token Meta's verification will find right. */
  create: (number: MetaNumber, more?: Record<string, unknown>) => Promise<string>
}

export async function openCallback(): Promise<Callback> {
  const verified = new Set<string>()
  const server = http.createServer((request, response) => {
    const { searchParams } = new URL(request.url as string, 'http://us')
    if (!verified.has(searchParams.get('hub.verify_token') ?? '')) return void response.writeHead(403).end()
    response.end(searchParams.get('hub.challenge'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd('file', async () => void server.close())
  return { publicUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, verified }
}

export async function openCallbackRig(): Promise<CallbackRig> {
  const callback = await openCallback()
  const rig = await openRig({ PUBLIC_URL: callback.publicUrl })
  return { ...callback, rig, create: (number, more) => createVerified(rig, callback, number, more) }
}

export async function createVerified(
  rig: Pick<Rig, 'create'>,
  { verified }: Callback,
  number: MetaNumber,
  more: Record<string, unknown> = {},
): Promise<string> {
  const verifyToken = `verify-${number.id}`
  verified.add(verifyToken)
  return await rig.create(number, { verifyToken, ...more })
}

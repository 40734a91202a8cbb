// Webhook receivers on loopback: each records its requests and answers as the test specifies.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { ServerOptions } from 'node:https'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { atEnd } from '../kit/at-end.ts'

export interface Received {
  /** Milliseconds since 1970. */
  at: number
  path: string
  headers: Record<string, string>
  body: string
}

export interface Receiver {
  url: string
  port: number
  /** Connections accepted so far. */
  connections: number
  requests: Received[]
  /** Used for all requests from now on; a test may replace it. */
  answer: Answer
}

export type Answer = (request: Received, response: ServerResponse, socket: Socket) => void

export function status(code: number, headers: Record<string, string> = {}, body = ''): Answer {
  return (_, response) => {
    response.writeHead(code, headers).end(body)
  }
}

/** Gives one answer after the other, and the last one to all further requests. */
export function inTurn(...answers: [Answer, ...Answer[]]): Answer {
  return (...request) => {
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    answer?.(...request)
  }
}

/** Never answers. */
export const hang: Answer = () => {}

/** Opens a receiver; it ends with the test. */
export async function openReceiver(answer: Answer = status(200), tls?: ServerOptions): Promise<Receiver> {
  const sockets = new Set<Socket>()
  const listener: RequestListener = (request, response) => {
    void read(request).then((received) => {
      receiver.requests.push(received)
      receiver.answer(received, response, request.socket)
    })
  }
  const server = tls ? createSecureServer(tls, listener) : createServer(listener)
  server.on('connection', (socket) => {
    receiver.connections++
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    port,
    connections: 0,
    requests: [],
    answer,
  }
  atEnd('test', async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return receiver
}

async function read(request: IncomingMessage): Promise<Received> {
  const at = Date.now()
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer)
  } catch {
    // The sender disconnected; the receiver keeps the part that arrived.
  }
  return {
    at,
    path: request.url ?? '',
    headers: request.headers as Record<string, string>,
    body: Buffer.concat(chunks).toString(),
  }
}

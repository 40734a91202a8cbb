// Proves that requests to services named by the operator take bounded time and memory, whatever they answer, and leave no
// connection open.
import { once } from 'node:events'
import { createServer as createHttp, type RequestListener } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { fetch } from 'undici'
import { describe, expect, it } from 'vitest'
import { createBoundedDispatcher } from '../../src/core/network/outbound.ts'
import { atEnd } from '../kit/at-end.ts'
import { commandProcess } from '../kit/command.ts'
import { secretKey } from '../kit/environment.ts'
import { spawnGateway } from '../kit/gateway.ts'
import { allowed, measuredAgain } from '../kit/measured.ts'
import { until } from '../kit/until.ts'

interface Service {
  port: number
  connections: () => number
}

/** Starts a service, which ends with the test. */
async function listen(server: Server): Promise<Service> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    // A socket that is not read never emits its end.
    sockets.add(socket.on('error', () => {}).resume())
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd('test', async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, connections: () => sockets.size }
}

const answering = (answer: RequestListener) => listen(createHttp(answer))

/** A server that sends its own bytes first, or nothing at all. */
const silent = (speak: (socket: Socket) => void = () => {}) => listen(createServer(speak))

function drip(socket: Socket, byte: string): void {
  const timer = setInterval(() => socket.write(byte, 'latin1'), 20)
  socket.on('close', () => clearInterval(timer))
}

describe('a fetched answer', () => {
  const dispatcher = createBoundedDispatcher({ deadlineMs: 400, mostBytes: 1024 * 1024, mostCompressedBytes: 64 * 1024 })
  atEnd('file', async () => void (await dispatcher.destroy()))

  /** The text of the answer, or the message of the error. */
  async function get(scheme: string, { port }: Service): Promise<string> {
    try {
      return await (await fetch(`${scheme}://127.0.0.1:${port}/`, { dispatcher })).text()
    } catch (error) {
      const { cause, message } = error as Error
      return cause instanceof Error ? cause.message : message
    }
  }

  it('arrives whole when it is small', async () => {
    expect(await get('http', await answering((_, response) => response.end('{"a":1}')))).toBe('{"a":1}')
    const zipped = await answering((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"a":1}')),
    )
    expect(await get('http', zipped)).toBe('{"a":1}')
  })

  it.each<[string, RequestListener]>([
    ['never begins', () => {}],
    [
      'drips',
      (_, response) => {
        response.writeHead(200).flushHeaders()
        drip(response.socket as Socket, '1\r\n.\r\n')
      },
    ],
  ])('is aborted at the deadline when it %s', measuredAgain, async (_, answer) => {
    const service = await answering(answer)
    const began = performance.now()
    expect(await get('http', service)).toBe('no whole answer within 400 ms')
    expect(performance.now() - began).toBeLessThan(allowed(2_000))
    await until(() => service.connections() === 0)
  })

  it.each<[string, string | undefined, Buffer, number]>([
    ['without an end', undefined, Buffer.alloc(64 * 1024), 1024 * 1024],
    ['that would unfold a thousandfold', 'gzip', gzipSync(Buffer.alloc(100_000_000)), 64 * 1024],
  ])('is aborted when it is an answer %s', async (_, encoding, chunk, mostBytes) => {
    const service = await answering((_request, response) => {
      response.writeHead(200, encoding ? { 'content-encoding': encoding } : {})
      const push = () => {
        while (!response.destroyed && response.write(chunk));
        response.once('drain', push)
      }
      push()
    })
    expect(await get('http', service)).toBe(`an answer of more than ${mostBytes} bytes`)
    await until(() => service.connections() === 0)
  })

  it.each<[string, (socket: Socket) => void]>([
    ['stands still', () => {}],
    ['drips', (socket) => drip(socket, '\x16')],
  ])('is aborted when a TLS handshake %s', measuredAgain, async (_, speak) => {
    const service = await silent(speak)
    const began = performance.now()
    expect(await get('https', service)).toMatch(/Connect Timeout Error|wrong version|packet length|SSL/)
    expect(performance.now() - began).toBeLessThan(allowed(3_000))
    await until(() => service.connections() === 0)
  })
})

describe('a database that does not answer', { timeout: 60_000 }, () => {
  it("is reported within seconds by a gateway's start and by a command, even if it stalls at encryption", async () => {
    const deaf = await silent()
    const stalls = await silent((socket) => socket.once('data', () => socket.write('S')))
    const sentence = /The database of DATABASE_URL cannot be used \(.*timeout/
    const envOf = (port: number, search: string) => ({
      DATABASE_URL: `postgres://a:b@127.0.0.1:${port}/x${search}`,
      SECRET_KEY: secretKey,
    })
    const gateway = spawnGateway({ env: envOf(deaf.port, '') })
    const outcome = await commandProcess(['account', 'list'], { env: envOf(stalls.port, '?sslmode=verify-full') })
    expect(outcome).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(sentence) })
    expect((await gateway.exited).code).toBe(1)
    expect(gateway.logs.join('\n')).toMatch(sentence)
  })
})

// Proves that a client's connections alone can take only a bounded number of sockets, and bounded memory, from the HTTP server.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Client, FormData } from 'undici'
import { describe, expect, it } from 'vitest'
import { networkOf } from '../../src/core/network/network.ts'
import { type ConnectionBounds, limitConnections } from '../../src/http/connections.ts'
import { beginInTurn } from '../../src/http/pipelining.ts'
import { boundUnreadAnswers } from '../../src/http/unread-answers.ts'
import { createAccount } from '../kit/accounts.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'

const answer = Buffer.alloc(16 * 1024 * 1024)

/** Starts a server, which ends with the test. */
async function open(prepare: (server: Server) => void): Promise<Server> {
  const server = createServer((_, response) => response.end(answer))
  prepare(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd('test', async () => {
    server.closeAllConnections()
    server.close()
  })
  return server
}

/** Opens a connection from that address of this machine. */
function dial(server: Server, localAddress = '127.0.0.1'): Socket {
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', localAddress }).on('error', () => {})
  atEnd('test', async () => void socket.destroy())
  return socket.pause()
}

function isServed(socket: Socket): Promise<boolean> {
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  return new Promise((resolve) => {
    socket.once('data', () => resolve(true))
    socket.once('close', () => resolve(false))
    socket.resume()
  })
}

describe('connections', () => {
  const refused: string[] = []
  const bounded = (bounds: Partial<ConnectionBounds>) =>
    open((server) => {
      refused.length = 0
      limitConnections(server, { total: 100, perAddress: 5, isCounted: () => true, ...bounds }, (peer) => refused.push(peer))
    })
  const dialAll = (server: Server, count: number, address?: string) => Array.from({ length: count }, () => dial(server, address))
  const connections = (server: Server) => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))

  it('of one address beyond its limit are closed at once, and others are served', async () => {
    const server = await bounded({})
    const first = dialAll(server, 5, '127.0.0.2')
    await until(async () => (await connections(server)) === 5)
    expect(await Promise.all(dialAll(server, 3, '127.0.0.2').map(isServed))).toEqual([false, false, false])
    expect(refused).toEqual(['127.0.0.2', '127.0.0.2', '127.0.0.2'])
    expect(await isServed(dial(server, '127.0.0.3'))).toBe(true)
    first[0]?.destroy()
    await until(async () => (await connections(server)) === 5)
    expect(await isServed(dial(server, '127.0.0.2'))).toBe(true)
  })

  it('from one IPv6 /64 network count as one client', () => {
    expect(networkOf('2001:db8:1:2:3::1')).toBe(networkOf('2001:db8:1:2:ffff::9'))
    expect(networkOf('2001:db8:1:2::1')).not.toBe(networkOf('2001:db8:1:3::1'))
    expect(networkOf('::ffff:192.0.2.1')).toBe(networkOf('192.0.2.1'))
    expect(networkOf('192.0.2.1')).not.toBe(networkOf('192.0.2.2'))
  })

  it('from addresses that are not counted have no limit per address', async () => {
    const server = await bounded({ isCounted: (address) => address !== '127.0.0.1' })
    expect(await Promise.all(dialAll(server, 8).map(isServed))).toEqual(Array(8).fill(true))
  })

  it('beyond the limit of the process are closed at once, whatever their address', async () => {
    const server = await bounded({ total: 4, isCounted: () => false })
    dialAll(server, 4)
    await until(async () => (await connections(server)) === 4)
    expect(await isServed(dial(server, '127.0.0.9'))).toBe(false)
    expect(refused).toEqual(['127.0.0.9'])
  })
})

it('connections leave a gateway enough file descriptors to work, however many are opened', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const gateway = await startGateway({ databaseUrl, env: { RATE_LIMIT_PER_SECOND: '100000' }, openFiles: 300 })
  const client = new Client(gateway.url)
  atEnd('test', async () => await client.close())
  async function upload(): Promise<number> {
    const body = new FormData()
    body.append('file', new Blob(['hello']), 'hello.txt')
    const answer = await client.request({ method: 'POST', path: '/api/v1/media', headers: { 'x-api-key': account.apiKey }, body })
    await answer.body.dump()
    return answer.statusCode
  }
  expect(await upload()).toBe(201)
  let closed = 0
  const { hostname, port } = new URL(gateway.url)
  for (let i = 0; i < 400; i++) {
    const socket = connect(Number(port), hostname, () => socket.write('GET /livez HTTP/1.1\r\nHost: x\r\nX-A: '))
    socket.on('error', () => {}).on('close', () => closed++)
    atEnd('test', async () => void socket.destroy())
  }
  await until(() => closed > 0)
  for (let i = 0; i < 10; i++) expect(await upload()).toBe(201)
})

describe('answers that nobody reads', () => {
  it('are bounded in memory: the oldest are cut off, and a client that reads everything receives everything', async () => {
    let held = () => 0
    const server = await open((server) => {
      const sockets = new Set<Socket>()
      server.on('connection', (socket) => sockets.add(socket))
      held = () => [...sockets].filter(({ destroyed }) => !destroyed).reduce((sum, { writableLength }) => sum + writableLength, 0)
      boundUnreadAnswers(server, { mostBytes: 2 * answer.length, graceMs: 200 })
    })
    const ask = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    const slow = Array.from({ length: 8 }, () => dial(server))
    // Each client reads a little now and then, so that none of them stalls.
    const nibble = setInterval(() => {
      for (const socket of slow) socket.read(1)
    }, 50)
    for (const socket of slow) socket.write(ask)
    await until(() => held() > 2 * answer.length)
    await until(() => held() <= 2 * answer.length && held() > 0)
    clearInterval(nibble)
    const whole = dial(server)
    whole.write(ask)
    let bytes = 0
    whole.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    await once(whole.resume(), 'close')
    expect(bytes).toBeGreaterThan(answer.length)
  })
})

it('pipelined requests wait in a bounded number, and their connection is closed beyond it', async () => {
  let [arrived, begun] = [0, 0]
  const server = await open((server) => {
    server.removeAllListeners('request')
    server.on('request', (request, response) => {
      arrived++
      beginInTurn(request, response, () => begun++)
    })
  })
  const ask = (times: number) => {
    const socket = dial(server).resume()
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(times))
    return socket
  }
  // The number holds for all connections together, and those that have ended do not count.
  for (let round = 1; round <= 2; round++) {
    arrived = 0
    const few = ask(1_000)
    await until(() => arrived === 1_000)
    const many = ask(1_100)
    await until(() => many.destroyed)
    expect([few.destroyed, begun]).toEqual([false, 2 * round])
    few.destroy()
    await until(async () => (await new Promise((resolve) => server.getConnections((_, count) => resolve(count)))) === 0)
  }
})

it.each([
  ['5 s', undefined, 'timeout=5'],
  ['75 s behind a proxy, which keeps them for 60 s', '1', 'timeout=75'],
])('an idle connection is kept for %s', async (_, proxies, promised) => {
  const gateway = await openGateway({ databaseUrl: await cloneDatabase(), env: { TRUST_PROXY: proxies } })
  expect((await fetch(`${gateway.url}/livez`)).headers.get('keep-alive')).toBe(promised)
})

// Proves that nobody is refused for what the process was late with: while its event loop stalls, it reads nothing, and its timers run out.
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import { openDatabase } from '../../src/core/database/database.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'

let databaseUrl: string
let port: number

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  const gateway = await openGateway({ databaseUrl })
  port = Number(new URL(gateway.url).port)
})

function stall(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

interface Sent {
  /** Arrives before the stall. */
  early?: string
  /** Arrives during the stall. */
  late: string
}

/**
 * Sends these bytes on connections of their own, around a stall that is longer than the time for headers (5 s) and that for whole requests (10 s).
 * Returns the answers.
 */
async function answersTo(...requests: Sent[]): Promise<string[]> {
  const sockets = requests.map(() => connect(port, '127.0.0.1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  // Both ends are in this process: by then the server has accepted the connections.
  for (let i = 0; i < 10; i++) await turn()
  for (const [i, socket] of sockets.entries()) socket.write(requests[i]?.early ?? '')
  for (let i = 0; i < 10; i++) await turn()
  for (const [i, socket] of sockets.entries()) socket.write(requests[i]?.late ?? '')
  stall(10_200)
  return await Promise.all(sockets.map((socket) => text(socket)))
}

it('serves a request that arrived while the event loop stalled, and refuses one whose body does not follow', async () => {
  const login = 'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  const [whole, body, half, none] = await answersTo(
    { late: 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' },
    { early: `${login}Content-Length: 2\r\n\r\n{`, late: '}' },
    { late: `${login}Content-Length: 100\r\n\r\n{` },
    { late: 'GET /livez HTTP/1.1\r\nHost: x\r\n' },
  )
  expect(whole).toMatch(/^HTTP\/1\.1 200 /)
  // One answer, not that the request was late, and the connection may be used again.
  expect(body?.match(/^(HTTP\/1\.1 \d+|Connection: .*)/gm)).toEqual(['HTTP/1.1 400', 'Connection: keep-alive'])
  expect(half).toMatch(/^HTTP\/1\.1 408 /)
  expect(none).toMatch(/^HTTP\/1\.1 408 /)
})

it('takes an answer of the database that arrived while the event loop stalled', async () => {
  await using database = openDatabase(databaseUrl, () => {}, { max: 1, silenceMs: 500 })
  await database.pool.query('select')
  const answer = database.pool.query(`select pg_sleep(0.1)::text || 'late' as word`)
  // By then the statement is sent.
  for (let i = 0; i < 2; i++) await turn()
  stall(3_000)
  expect((await answer).rows).toEqual([{ word: 'late' }])
})

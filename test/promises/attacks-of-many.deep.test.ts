// Proves that masses of sockets, requests and answers end soon, that others are served meanwhile, and that no memory leaks.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { attacks } from '../graph/attacks.ts'
import { node, realHashes, root } from '../kit/environment.ts'
import { watch } from '../kit/gateway.ts'
import { holdingsOf, inspectable } from '../kit/holdings.ts'
import type { Holdings } from '../kit/inside.ts'
import { measuredAgain } from '../kit/measured.ts'
import { promptly } from '../kit/promptly.ts'
import { openProcessRig, type ProcessRig, text } from '../rest-compat/rig.ts'
import { postHead, send, type Wire, wireAttacks } from './wire.ts'

let rig: ProcessRig

beforeAll(async () => {
  rig = await openProcessRig({ ...inspectable, ...realHashes })
})

async function expectService(times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    expect((await promptly(() => rig.tenant.api.get('me'))).status).toBe(200)
    await pause(50)
  }
}

/**
 * Expects that memory stops growing when `harm` is repeated: each later run must leave about as much memory as the first. The
 * allocator may keep some memory for reuse, up to a limit; a leak grows with every run.
 */
async function expectFlat(harm: () => Promise<void>): Promise<void> {
  await harm()
  const first = await holdingsOf(rig.gateway)
  const rssBytes = [first.rssBytes]
  do {
    await harm()
    const now = await settled((rssBytes.at(-1) as number) + first.rssBytes * 0.1)
    expect(now.heapBytes).toBeLessThan(first.heapBytes * 1.1)
    rssBytes.push(now.rssBytes)
  } while (grown() && rssBytes.length < 5)
  const megabytes = rssBytes.map((bytes) => Math.round(bytes / 1e6)).join(', ')
  expect(grown(), `RSS in MB each time: ${megabytes}`).toBe(false)
  console.log(`heap ${Math.round(first.heapBytes / 1e6)} MB, RSS ${megabytes} MB`)

  function grown(): boolean {
    const [before, now] = rssBytes.slice(-2) as [number, number]
    return now >= before + first.rssBytes * 0.1
  }

  /** Memory after the allocator has returned enough to be below `rssBytes`, or after ten seconds if it has not. */
  async function settled(rssBytes: number): Promise<Holdings> {
    const deadline = Date.now() + 10_000
    for (;;) {
      const now = await holdingsOf(rig.gateway)
      if (now.rssBytes < rssBytes || Date.now() > deadline) return now
      await pause(100)
    }
  }
}

it('does not grow memory when all tabled attacks are repeated', { timeout: 300_000 }, async () => {
  const { api } = rig.tenant
  const nested = `{"text":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
  let made = 0
  const long = JSON.stringify(text(rig.tenant, { text: 'x'.repeat(900_000), to: '+'.repeat(50_000) }))
  await expectFlat(async () => {
    for (let i = 0; i < 10; i++) {
      for (const [, bytes] of wireAttacks) await send(rig.gateway, bytes)
      for (const [, document] of attacks) await api.graphql(document)
      await api.graphql(`{ none } # ${made++} ${'x'.repeat(8_000_000)}`)
      for (const body of [nested, long, `${long}${long}`, '{']) await api.post('messages/send', body)
    }
  })
})

describe('connections', () => {
  it('closes 10,000 idle ones within 12 s, serves others meanwhile, and leaks nothing', {
    timeout: 300_000,
  }, async () => {
    const count = affordable(10_000)
    const seconds: number[] = []
    await expectFlat(async () => {
      seconds.push(await openIdly(count))
    })
    expect(Math.min(...seconds)).toBeLessThan(12)
  })

  /** The wanted number of connections, reduced where this machine's limit of open files is lower. */
  function affordable(wanted: number): number {
    const { userLimits } = process.report.getReport() as { userLimits: { open_files: { hard: number | 'unlimited' } } }
    const { hard } = userLimits.open_files
    return hard === 'unlimited' ? wanted : Math.min(wanted, hard - 1_000)
  }

  /** Opens `count` idle connections; resolves to the seconds until the last was closed. */
  async function openIdly(count: number): Promise<number> {
    const script = ['test/promises/idle-sockets.ts', new URL(rig.gateway.url).port, String(count)]
    const crowd = watch(spawn(node, script, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] }))
    await crowd.line(/^opened /, 60_000)
    await expectService(10)
    const [, seconds] = await crowd.line(/^closed .* after (.*) s$/, 60_000)
    console.log(crowd.logs.join('; '))
    return Number(seconds)
  }

  it('closes 200 slow senders within 12 s, and serves others meanwhile', { timeout: 240_000 }, async () => {
    const known = `x-api-key: ${rig.tenant.account.apiKey}\r\n`
    const slow = [
      'GET /livez HTTP/1.1\r\nHost: x\r\nX-A: ',
      `${postHead}${known}Content-Length: 1000\r\n\r\n{`,
      `${postHead}${known}Transfer-Encoding: chunked\r\n\r\n5\r\n{`,
      `${postHead}${known}Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n`,
      `${postHead.replace('/api/v1/messages/send', '/api/auth/login')}Content-Length: 1000\r\n\r\n{`,
      `${postHead.replace('/api/v1/messages/send', '/graphql')}${known}Content-Length: 1000\r\n\r\n{`,
      `${postHead.replace('/api/v1/messages/send', '/graphql/stream')}${known}Content-Length: 1000\r\n\r\n{`,
    ]
    async function sendSlowly(): Promise<Wire[]> {
      const cut = Promise.all(Array.from({ length: 200 }, (_, i) => send(rig.gateway, slow[i % slow.length] as string)))
      await expectService(10)
      return await cut
    }
    const longest = (wires: Wire[]) => Math.max(...wires.map(({ tookMs }) => tookMs))
    for (const wire of await promptly(sendSlowly, { withinMs: 12_000, tookMs: longest })) {
      expect(wire.closed).toBe(true)
      expect(wire.text).toMatch(/^(HTTP\/1\.1 100 Continue\r\n\r\n)?(HTTP\/1\.1 (408|429)|$)/)
    }
  })

  it('answers all 1,000 pipelined requests of one packet', async () => {
    const [ask, last] = ['GET /livez HTTP/1.1\r\nHost: x\r\n\r\n', 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n']
    const { text: answered, closed } = await send(rig.gateway, ask.repeat(999) + last)
    expect(answered.match(/HTTP\/1\.1 200/g)).toHaveLength(1_000)
    expect(closed).toBe(true)
  })
})

describe('an answer of 20 MB', () => {
  const query = `{ messages(first: 100) { nodes { ${Array.from({ length: 14 }, (_, i) => `a${i}: body`).join(' ')} } } }`

  beforeAll(async () => {
    for (let i = 0; i < 2; i++) {
      const messages = Array.from({ length: 50 }, () => text(rig.tenant, { text: '😀'.repeat(4_096) }))
      expect((await rig.tenant.api.post('messages/bulk', { messages })).status).toBe(202)
    }
  })

  /**
   * Sends the query and pauses for `ms` after each `everyBytes` of the answer. Resolves to the bytes received when the
   * connection closes.
   */
  async function read(rests: { everyBytes: number; ms: number }, onStart = () => {}): Promise<number> {
    const { hostname, port } = new URL(rig.gateway.url)
    const body = JSON.stringify({ query })
    const socket = connect(Number(port), hostname).on('error', () => {})
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-api-key: ${rig.tenant.account.apiKey}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    let bytes = 0
    let rested = 0
    socket.once('data', onStart)
    socket.on('data', async (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= rested) return
      rested += rests.everyBytes
      socket.pause()
      await pause(rests.ms)
      socket.resume()
    })
    await once(socket, 'close')
    return bytes
  }

  // The large answers of one caller are produced one at a time, so an unread one delays the next until its connection is
  // closed.
  const patient = { ...measuredAgain, timeout: 240_000 }

  it('is cut off for a reader that stops reading, and is complete for a slow reader', patient, async () => {
    const stops = { everyBytes: Number.POSITIVE_INFINITY, ms: 15_000 }
    const whole = await read({ everyBytes: 1_000_000, ms: 0 })
    // The slow reader starts first: behind stopped readers it would wait longer than a request may wait for memory.
    const { promise: started, resolve: onStart } = Promise.withResolvers<void>()
    const slowly = read({ everyBytes: 2_000_000, ms: 1_000 }, onStart)
    await started
    const [slow, ...cut] = await Promise.all([slowly, ...Array.from({ length: 5 }, () => read(stops))])
    expect(whole).toBeGreaterThan(20_000_000)
    expect(slow).toBe(whole)
    for (const bytes of cut) expect(bytes).toBeLessThan(whole)
  })
})

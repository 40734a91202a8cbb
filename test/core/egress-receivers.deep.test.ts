// Proves that a bad webhook receiver costs no more than its deadline and 64 KiB, and that each failure has its reason.
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { PostOutcome } from '../../src/core/network/egress.ts'
import { node, root } from '../kit/environment.ts'
import { watch } from '../kit/gateway.ts'
import { measuredAgain } from '../kit/measured.ts'
import { until } from '../kit/until.ts'
import { type Answer, hang, openReceiver, status } from '../webhooks/receiver.ts'
import { egressWith, listen, post } from './egress-rig.ts'

describe('a bad receiver', () => {
  it('that hangs is aborted at the deadline', measuredAgain, async () => {
    const receiver = await openReceiver(hang)
    const began = performance.now()
    expect(await post(egressWith(), receiver.url, 300)).toEqual({ outcome: 'error', reason: 'timeout' })
    expect(performance.now() - began).toBeLessThan(2_000)
  })

  const drips: Answer = (_, response) => {
    response.writeHead(200)
    const drip = setInterval(() => response.write('.'), 20)
    response.on('close', () => clearInterval(drip))
  }

  it('that drips its answer is aborted at the deadline', measuredAgain, async () => {
    const receiver = await openReceiver(drips)
    const began = performance.now()
    expect(await post(egressWith(), receiver.url, 400)).toEqual({ outcome: 'error', reason: 'timeout' })
    expect(performance.now() - began).toBeLessThan(2_000)
  })

  let written = 0
  const gushes: Answer = (_, response) => {
    const chunk = Buffer.alloc(64 * 1024)
    const most = written + 130e6
    const push = () => {
      while (written < most && !response.destroyed) {
        written += chunk.length
        if (!response.write(chunk)) return response.once('drain', push)
      }
      return response.end()
    }
    response.writeHead(200)
    push()
  }

  it('that sends 130 MB is cut off soon after 64 KiB', async () => {
    const receiver = await openReceiver(gushes)
    written = 0
    const outcome = await post(egressWith(), receiver.url)
    expect(outcome).toMatchObject({ outcome: 'response', status: 200 })
    expect((outcome as { bodyBytes: number }).bodyBytes).toBeLessThan(256 * 1024)
    expect(written).toBeLessThan(16e6)
  })

  it('that sends 130 MB, or drips, costs less than 10 MB of memory, however often', async () => {
    const receivers = await Promise.all([status(200), gushes, drips].map((answer) => openReceiver(answer)))
    const script = ['--expose-gc', 'test/core/egress-process.ts', ...receivers.map(({ url }) => url)]
    const sender = watch(spawn(node, script, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] }))
    const [, megabytes] = await sender.line(/^grew by (.*) MB$/)
    console.log(`F21: grew by ${megabytes} MB`)
    expect(Number(megabytes)).toBeLessThan(10)
  })

  it('that sends 1 MB of headers fails', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {}).write('HTTP/1.1 200 OK\r\n')
      for (let i = 0; i < 1000; i++) socket.write(`x-${i}: ${'a'.repeat(1000)}\r\n`)
    })
    const url = await listen(server)
    expect(await post(egressWith(), url)).toEqual({ outcome: 'error', reason: 'headers_too_large' })
  })

  it('that disconnects, sends invalid chunks or speaks another protocol fails', async () => {
    const answers = ['', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', '220 mail.example ESMTP\r\n']
    const outcomes: PostOutcome[] = []
    for (const answer of answers) {
      const url = await listen(createServer((socket) => void socket.on('error', () => {}).once('data', () => socket.end(answer))))
      outcomes.push(await post(egressWith(), url))
    }
    expect(outcomes.map((outcome) => outcome.outcome === 'error' && outcome.reason)).toEqual([
      'connection_lost',
      'bad_response',
      'bad_response',
    ])
  })

  it('that completes no TLS handshake is aborted after the connect timeout', measuredAgain, async () => {
    const silent = (await listen(createServer(() => {}))).replace('http:', 'https:')
    const began = performance.now()
    expect(await post(egressWith({ connectTimeoutMs: 200 }), silent, 5_000)).toEqual({
      outcome: 'error',
      reason: 'connect_failed',
    })
    expect(performance.now() - began).toBeLessThan(2_000)
  })

  it('that drips its TLS handshake is aborted after the connect timeout, and the connection ends', measuredAgain, async () => {
    let open = 0
    const server = createServer((socket) => {
      open++
      // The header of a TLS record that never reaches its stated length.
      socket
        .on('error', () => {})
        .resume()
        .write(Buffer.from([0x16, 0x03, 0x03, 0x40, 0x00]))
      const drip = setInterval(() => socket.write(Buffer.from([0])), 20)
      socket.on('close', () => {
        clearInterval(drip)
        open--
      })
    })
    const dripping = (await listen(server)).replace('http:', 'https:')
    const began = performance.now()
    expect(await post(egressWith({ connectTimeoutMs: 200 }), dripping, 5_000)).toEqual({
      outcome: 'error',
      reason: 'connect_failed',
    })
    expect(performance.now() - began).toBeLessThan(2_000)
    await until(() => open === 0)
  })

  it('that does not listen fails', async () => {
    expect(await post(egressWith(), 'http://127.0.0.1:1/')).toEqual({ outcome: 'error', reason: 'connect_failed' })
  })

  it('does not delay a shutdown', async () => {
    const receiver = await openReceiver(hang)
    const stop = new AbortController()
    const outcome = egressWith().post(receiver.url, {
      headers: {},
      body: Buffer.alloc(0),
      timeoutMs: 10_000,
      signal: stop.signal,
    })
    stop.abort()
    expect(await outcome).toEqual({ outcome: 'error', reason: 'interrupted' })
  })
})

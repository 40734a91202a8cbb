// Time limits of uploads and downloads: a slow connection is waited for, and one that is merely held open is cut.
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { allowed, measuredAgain } from '../kit/measured.ts'
import { until } from '../kit/until.ts'
import { dataFolder } from '../promises/demo.ts'
import { type OwnRig, openOwnRig } from '../rest-compat/rig.ts'
import { openFiles, rawForm, sized, upload } from './rig.ts'

const mib = 1024 * 1024
let rig: OwnRig
let dataDir: string

beforeAll(async () => {
  dataDir = await dataFolder()
  rig = await openOwnRig({ DATA_DIR: dataDir })
})

interface Line {
  socket: Socket
  text: () => string
  /** Milliseconds until the other side closes the connection. */
  closed: Promise<number>
}

function open(head: string[]): Line {
  const { hostname, port } = new URL(rig.gateway.url)
  const begun = performance.now()
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  const closed = new Promise<number>((resolve) => socket.on('close', () => resolve(performance.now() - begun)))
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  return { socket, text: () => text, closed }
}

function openUpload(length: number): Line {
  return open([
    'POST /api/v1/media HTTP/1.1',
    'Host: x',
    `x-api-key: ${rig.tenant.account.apiKey}`,
    'Content-Type: multipart/form-data; boundary=b',
    `Content-Length: ${length}`,
  ])
}

/** Writes the whole body, `bytes` bytes every `everyMs` milliseconds. */
async function drip({ socket }: Line, body: Buffer, bytes: number, everyMs: number): Promise<void> {
  for (let at = 0; at < body.length && !socket.destroyed; at += bytes) {
    socket.write(body.subarray(at, at + bytes))
    await pause(everyMs)
  }
}

// Measured again when other load keeps this machine too busy.
describe.concurrent('an upload', measuredAgain, () => {
  it('of 60 MiB may take more than 30 s', async () => {
    const body = Buffer.from(rawForm('x'.repeat(60 * mib), 'form-data; name="file"; filename="a"').body)
    const line = openUpload(body.length)
    const begun = performance.now()
    await drip(line, body, mib / 2, 260)
    await Promise.race([line.closed, new Promise((resolve) => line.socket.once('data', resolve))])
    expect(performance.now() - begun).toBeGreaterThan(30_000)
    expect(line.text()).toMatch(/^HTTP\/1\.1 201 /)
    line.socket.destroy()
  })

  it('that sends one byte at a time is cut like any slow request', async () => {
    const { body } = rawForm('x'.repeat(mib), 'form-data; name="file"; filename="a"')
    const line = openUpload(body.length)
    line.socket.write(body.slice(0, 200))
    void drip(line, Buffer.alloc(60, 'x'), 1, 1_000)
    const tookMs = await line.closed
    expect(line.text()).toMatch(/^(HTTP\/1\.1 408 |$)/)
    expect(tookMs).toBeGreaterThan(9_900)
    expect(tookMs).toBeLessThan(allowed(14_000))
  })

  it('that stalls is cut when the time for its bytes is over', async () => {
    const { body } = rawForm('x'.repeat(10 * mib), 'form-data; name="file"; filename="a"')
    const line = openUpload(body.length)
    line.socket.write(body.slice(0, mib / 2))
    const tookMs = await line.closed
    // 10 s as for every request, plus 8 s for 512 KiB, of which some may have arrived before the first check.
    expect(tookMs).toBeGreaterThan(12_000)
    expect(tookMs).toBeLessThan(allowed(23_000))
  })

  it('that was refused cannot keep its connection open by sending more', async () => {
    const line = openUpload(60 * mib)
    line.socket.write('--b\r\nContent-Disposition: form-data; name="other"; filename="a"\r\n\r\n')
    void drip(line, Buffer.alloc(60, 'x'), 1, 500)
    const tookMs = await line.closed
    expect(line.text()).toMatch(/^HTTP\/1\.1 400 /)
    expect(tookMs).toBeLessThan(allowed(14_000))
  })

  it('leaves its connection to later requests, with the usual time limit', async () => {
    const { body } = rawForm('hello', 'form-data; name="file"; filename="a"')
    const line = openUpload(body.length)
    line.socket.write(body)
    await new Promise((resolve) => line.socket.once('data', resolve))
    line.socket.write(
      `POST /api/v1/messages/send HTTP/1.1\r\nHost: x\r\nx-api-key: ${rig.tenant.account.apiKey}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    )
    const tookMs = await line.closed
    expect(line.text()).toMatch(/^HTTP\/1\.1 201 /)
    expect(tookMs).toBeLessThan(allowed(14_000))
  })
})

describe('an upload that was cut', () => {
  it('leaves no file, no row and no warning in the log', async () => {
    const { rows } = await sql(rig.databaseUrl).query('select id from media where "storedAt" is null')
    expect(rows).toEqual([])
    expect(readdirSync(path.join(dataDir, 'media/incoming'))).toEqual([])
    expect(rig.gateway.logs.filter((line) => /"level":"(warn|error|fatal)"/.test(line))).toEqual([])
  })
})

describe.skipIf(process.platform !== 'linux')('a download', () => {
  it('that nobody reads is cut, and does not delay other downloads', async () => {
    const { url } = (await upload(rig.gateway, rig.tenant.account.apiKey, sized('application/pdf', 60 * mib))).body.data
    const line = open([`GET ${new URL(url).pathname} HTTP/1.1`, 'Host: x'])
    await new Promise((resolve) => line.socket.once('data', resolve))
    line.socket.pause()
    expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(60 * mib)
    // The complete download has all its bytes a moment before the gateway closes its file. On a slow machine the other one is cut by then.
    const heldOpen = () => openFiles(dataDir)
    await until(() => heldOpen() <= 1)
    await until(() => heldOpen() === 0, { timeoutMs: 45_000, everyMs: 500 })
    line.socket.destroy()
  })
})

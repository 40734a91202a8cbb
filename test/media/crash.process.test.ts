// Interrupted uploads: no file that was acknowledged is missing, and nothing else stays behind.
import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { sweepMedia } from '../../src/media/service.ts'
import { type Account, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { openApp } from '../messages/rig.ts'
import { dataFolder } from '../promises/demo.ts'
import { post, rawForm, upload } from './rig.ts'

let databaseUrl: string
let account: Account
let dataDir: string

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  account = await createAccount(databaseUrl)
  dataDir = await dataFolder()
})

function start(env: Record<string, string> = {}): Promise<Gateway> {
  return startGateway({ databaseUrl, env: { DATA_DIR: dataDir, RATE_LIMIT_PER_SECOND: '100000', ...env } })
}

/** The same inside this process, for tests that do not kill it. */
function open(env: Record<string, string> = {}): Promise<OpenGateway> {
  return openGateway({ databaseUrl, env: { DATA_DIR: dataDir, RATE_LIMIT_PER_SECOND: '100000', ...env } })
}

function filesIn(folder: string): string[] {
  const at = path.join(dataDir, 'media', folder)
  return existsSync(at) ? readdirSync(at).filter((name) => name !== 'incoming') : []
}

async function rows(): Promise<{ id: string; stored: boolean }[]> {
  const found = await sql(databaseUrl).query<{ id: string; stored: boolean }>(
    'select id, "storedAt" is not null as stored from media order by id',
  )
  return found.rows
}

/** Makes existing rows old enough to count as abandoned. */
async function grow(): Promise<void> {
  await sql(databaseUrl).query(`update media set "createdAt" = "createdAt" - interval '3 hours'`)
}

describe('a connection that is cut', () => {
  let gateway: OpenGateway
  beforeAll(async () => {
    gateway = await open()
  })
  const { body } = rawForm('x'.repeat(100_000), 'form-data; name="file"; filename="a"')
  const head = (key: string) =>
    [
      'POST /api/v1/media HTTP/1.1',
      'Host: x',
      `x-api-key: ${key}`,
      'Content-Type: multipart/form-data; boundary=b',
      `Content-Length: ${body.length}`,
    ].join('\r\n')

  it.each([
    ['before the body', 0],
    ["in the part's head", 20],
    ['in the file', 50_000],
    ['one byte before the end', body.length - 1],
  ])('%s leaves no file and no row', async (_, sent) => {
    const [before, files] = [await rows(), filesIn('')]
    const { hostname, port } = new URL(gateway.url)
    const socket = connect(Number(port), hostname)
    socket.write(`${head(account.apiKey)}\r\n\r\n${body.slice(0, sent)}`)
    if (sent > 100) await until(() => filesIn('incoming').length > 0)
    socket.destroy()
    await until(() => filesIn('incoming').length === 0)
    // A complete upload follows, so that every trace of the cut one would be visible by now.
    const { id } = (await upload(gateway, account.apiKey, 'hello')).body.data
    expect((await rows()).filter((row) => !before.some((old) => old.id === row.id))).toEqual([{ id, stored: true }])
    expect(filesIn('').filter((name) => !files.includes(name))).toEqual([id])
    expect(gateway.logs.filter((line) => /error|warn/.test(line))).toEqual([])
  })
})

describe('a process that dies', () => {
  it('in the middle of an upload leaves a partial file, which the next process removes', async () => {
    const gateway = await start()
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(
          new TextEncoder().encode(rawForm('x'.repeat(200_000), 'form-data; name="file"').body.slice(0, 100_000)),
        )
      },
    })
    const cut = post(gateway, account.apiKey, stream, { 'content-type': 'multipart/form-data; boundary=b' }).catch(() => 'cut')
    await until(() => filesIn('incoming').length > 0)
    gateway.kill('SIGKILL')
    await Promise.all([gateway.exited, cut])
    const [left] = filesIn('incoming') as [string]
    const young = path.join(dataDir, 'media/incoming/young')
    writeFileSync(young, 'of an upload that goes on in another process')
    utimesSync(path.join(dataDir, 'media/incoming', left), 1, 1)
    await open()
    expect(filesIn('incoming')).toEqual(['young'])
  })

  it.each([
    ['before it keeps the file', 'media.before_put', 'one', 0],
    ['before it says so to the database', 'media.after_put', 'two', 1],
  ] as const)('%s leaves nothing after a sweep, and the same request can be made again', async (_, failpoint, key, files) => {
    const doomed = await start({ FAILPOINT: `${failpoint}=kill` })
    const before = (await rows()).length
    const headers = { 'idempotency-key': key }
    await expect(upload(doomed, account.apiKey, 'hello', { headers })).rejects.toThrow()
    await doomed.exited
    const unfinished = (await rows()).find(({ stored }) => !stored) as { id: string }
    expect(filesIn('').filter((name) => name === unfinished.id)).toHaveLength(files)

    const gateway = await open()
    const headersOfOwner = { 'x-api-key': account.apiKey }
    expect((await fetch(`${gateway.url}/api/v1/media/${unfinished.id}`, { headers: headersOfOwner })).status).toBe(404)
    const again = await upload(gateway, account.apiKey, 'hello', { headers })
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, null])

    const app = await openApp(databaseUrl, { DATA_DIR: dataDir })
    expect(await sweepMedia(app), 'it might still be on its way').toBe(0)
    await grow()
    expect(await sweepMedia(app)).toBe(1)
    expect(await rows()).toHaveLength(before + 1)
    expect(filesIn('')).not.toContain(unfinished.id)
    expect(await (await fetch(again.body.data.url)).text()).toBe('hello')
    expect(await sweepMedia(app)).toBe(0)
  })

  it('before it answers has kept the file, and the repeated request is answered with it', async () => {
    const doomed = await start({ FAILPOINT: 'api.after_commit_before_reply=kill' })
    const headers = { 'idempotency-key': 'three' }
    await expect(upload(doomed, account.apiKey, 'kept', { headers })).rejects.toThrow()
    await doomed.exited
    const gateway = await open()
    const [count, again] = [(await rows()).length, await upload(gateway, account.apiKey, 'kept', { headers })]
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    expect(await (await fetch(again.body.data.url)).text()).toBe('kept')
    expect(await rows()).toHaveLength(count)
  })
})

describe('an upload that fails', () => {
  it('inside the gateway leaves nothing and can be repeated', async () => {
    const gateway = await open({ FAILPOINT: 'media.after_put=throw' })
    const before = [await rows(), filesIn(''), filesIn('incoming')]
    const headers = { 'idempotency-key': 'four' }
    expect((await upload(gateway, account.apiKey, 'hello', { headers })).status).toBe(500)
    expect([await rows(), filesIn(''), filesIn('incoming')]).toEqual(before)
    expect((await upload(gateway, account.apiKey, 'hello', { headers })).status).toBe(201)
  })

  it('after its commit keeps the file, because the repeated request is answered with it', async () => {
    const gateway = await open({ FAILPOINT: 'api.after_commit_before_reply=throw' })
    const headers = { 'idempotency-key': 'five' }
    expect((await upload(gateway, account.apiKey, 'hello', { headers })).status).toBe(500)
    const again = await upload(gateway, account.apiKey, 'hello', { headers })
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    expect(await (await fetch(again.body.data.url)).text()).toBe('hello')
  })
})

// Files in an S3 bucket keep the same promises as files on disk, with a server that checks signatures.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sweepMedia } from '../../src/media/service.ts'
import {
  type Account,
  api,
  cloneDatabase,
  createAccount,
  type Gateway,
  spawnGateway,
  sql,
  startGateway,
  until,
} from '../kit/kit.ts'
import { openApp } from '../messages/rig.ts'
import { dataFolder } from '../promises/demo.ts'
import { send } from '../promises/wire.ts'
import { sized, upload } from './rig.ts'
import { type S3Server, startS3 } from './s3-server.ts'

const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'the-secret/of+the=bucket', region: 'eu-central-1' }
let s3: S3Server
let env: Record<string, string>
let databaseUrl: string
let account: Account
let gateway: Gateway

beforeAll(async () => {
  s3 = await startS3(credentials)
  databaseUrl = await cloneDatabase()
  account = await createAccount(databaseUrl)
  env = {
    DATA_DIR: await dataFolder(),
    MEDIA_STORE: 's3',
    S3_BUCKET: 'files',
    S3_ENDPOINT: s3.url,
    S3_REGION: credentials.region,
    S3_ACCESS_KEY_ID: credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    LOG_LEVEL: 'trace',
    RATE_LIMIT_PER_SECOND: '100000',
  }
  gateway = await startGateway({ databaseUrl, env })
})

beforeEach(() => {
  s3.fails = undefined
  s3.lies = undefined
})

const incoming = () => readdirSync(path.join(env.DATA_DIR as string, 'media/incoming'))

describe('a bucket', () => {
  it('stores uploads, and returns them whole and in parts', async () => {
    const content = sized('application/pdf', 20 * 1024 * 1024)
    const { status, body } = await upload(gateway, account.apiKey, content)
    expect(status).toBe(201)
    expect([...s3.objects].map(([key, object]) => [key, object.equals(content)])).toEqual([
      [`/files/media/${body.data.id}`, true],
    ])
    expect(incoming()).toEqual([])
    const whole = await fetch(body.data.url)
    expect([whole.status, Buffer.from(await whole.arrayBuffer()).equals(content)]).toEqual([200, true])
    const part = await fetch(body.data.url, { headers: { range: 'bytes=0-7' } })
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
      206,
      '%PDF-1.7',
      `bytes 0-7/${content.length}`,
    ])
    s3.seen.length = 0
    await fetch(body.data.url, { method: 'HEAD' })
    await fetch(body.data.url, { headers: { 'if-none-match': `"${body.data.id}"` } })
    expect(s3.seen, 'neither needs the bytes').toEqual([])
  })

  it('stores a repeated upload once', async () => {
    const before = s3.objects.size
    const repeat = () => upload(gateway, account.apiKey, 'hello', { headers: { 'idempotency-key': 'one' } })
    const [first, second] = [await repeat(), await repeat()]
    expect([second.headers.get('idempotency-replayed'), second.body]).toEqual(['true', first.body])
    expect(s3.objects.size).toBe(before + 1)
  })

  it('that fails leaves no partial upload, and its errors reveal no details', async () => {
    const kept = await upload(gateway, account.apiKey, 'kept')
    s3.fails = 503
    const answers = [await upload(gateway, account.apiKey, 'hello')]
    const reading = await fetch(kept.body.data.url)
    answers.push({ status: reading.status, headers: reading.headers, body: await reading.json() })
    for (const { status, body } of answers) {
      expect(status).toBeGreaterThanOrEqual(500)
      expect(JSON.stringify(body)).not.toMatch(/s3|bucket|aws|127\.0\.0\.1/i)
    }
    s3.fails = undefined
    const app = await openApp(databaseUrl, env)
    await sql(databaseUrl).query(`update media set "createdAt" = now() - interval '3 hours'`)
    await sweepMedia(app)
    const { rows } = await sql(databaseUrl).query<{ id: string }>('select id from media order by id')
    expect([...s3.objects.keys()].sort()).toEqual(rows.map(({ id }) => `/files/media/${id}`))
    expect(incoming()).toEqual([])
  })

  it('loses deleted files; if a deletion fails, the next sweep repeats it, and nobody reads the file meanwhile', async () => {
    const client = api(gateway, account.apiKey)
    const [one, two] = [await upload(gateway, account.apiKey, 'one'), await upload(gateway, account.apiKey, 'two')]
    const [place, other] = [one, two].map(({ body }) => `/files/media/${body.data.id}`) as [string, string]
    expect((await client.delete(`media/${one.body.data.id}`)).status).toBe(200)
    expect([s3.objects.has(place), s3.objects.has(other)]).toEqual([false, true])
    s3.fails = 503
    expect((await client.delete(`media/${two.body.data.id}`)).status).toBe(200)
    expect([(await fetch(two.body.data.url)).status, s3.objects.has(other)]).toEqual([404, true])
    s3.fails = undefined
    await sweepMedia(await openApp(databaseUrl, env))
    expect(s3.objects.has(other)).toBe(false)
    const left = await sql(databaseUrl).query('select from media where id = $1', [two.body.data.id])
    expect(left.rowCount).toBe(0)
  })

  it('that lost a file leads to 404', async () => {
    const { id, url } = (await upload(gateway, account.apiKey, 'hello')).body.data
    s3.objects.delete(`/files/media/${id}`)
    expect((await fetch(url)).status).toBe(404)
  })

  it('with a wrong secret or address leads to 5xx, and no secret is logged', async () => {
    const wrong = await startGateway({ databaseUrl, env: { ...env, S3_SECRET_ACCESS_KEY: 'the-wrong-secret-of-the-bucket' } })
    expect((await upload(wrong, account.apiKey, 'hello')).status).toBe(500)
    const away = await startGateway({ databaseUrl, env: { ...env, S3_ENDPOINT: 'http://127.0.0.1:9' } })
    expect((await upload(away, account.apiKey, 'hello')).status).toBe(503)
    await until(() => wrong.logs.some((line) => line.includes('SignatureDoesNotMatch')))
    const logs = [gateway, wrong, away].flatMap((each) => each.logs).join('\n')
    for (const secret of ['the-wrong-secret', credentials.secretAccessKey, account.apiKey]) expect(logs).not.toContain(secret)
  })
})

describe('a bucket that misbehaves', () => {
  const html = '<html><body>Please sign in to this network</body></html>'

  it.each<[string, NonNullable<S3Server['lies']>]>([
    [
      'takes a file and has nothing of it',
      ({ method }, response) => method === 'PUT' && !!response.writeHead(200, { etag: '"x"' }).end(),
    ],
    ['takes a file for a page of its own', ({ method }, response) => method === 'PUT' && !!response.writeHead(200).end(html)],
    [
      'sends elsewhere',
      ({ method }, response) => method === 'PUT' && !!response.writeHead(307, { location: `${s3.url}/else` }).end(),
    ],
    [
      'answers without an end',
      ({ method }, response) => {
        if (method !== 'PUT') return false
        response.writeHead(200, { 'content-type': 'application/xml' })
        const timer = setInterval(() => response.writableNeedDrain || response.write(' '.repeat(65_536)), 1)
        response.on('close', () => clearInterval(timer))
        return true
      },
    ],
  ])('leaves no upload behind: %s', async (_, lies) => {
    const before = await mediaCount()
    s3.lies = lies
    const { status, body } = await upload(gateway, account.apiKey, 'hello')
    expect([status >= 500, body.error.message]).toEqual([true, expect.not.stringMatching(/s3|bucket|aws|127\.0\.0\.1|<html/i)])
    expect(await mediaCount()).toBe(before)
  })

  const file = 'a file of some length'
  const asFile =
    (part: (file: Buffer) => Buffer, length: (file: Buffer, part: Buffer) => number): NonNullable<S3Server['lies']> =>
    ({ method }, response, object) => {
      if (method !== 'GET' || !object) return false
      const bytes = part(object)
      response.writeHead(206, { 'content-length': length(object, bytes) })
      // The bytes go directly to the socket, because HTTP would not send more than the declared length.
      response.flushHeaders()
      response.socket?.end(bytes)
      return true
    }

  it.each<[string, NonNullable<S3Server['lies']>]>([
    [
      'less than it says',
      asFile(
        (file) => file.subarray(0, 5),
        (file) => file.length,
      ),
    ],
    [
      'less than there was',
      asFile(
        (file) => file.subarray(0, 5),
        (_, part) => part.length,
      ),
    ],
    [
      'more than there was',
      asFile(
        (file) => Buffer.concat([file, file]),
        (_, part) => part.length,
      ),
    ],
    [
      'a page of its own',
      asFile(
        () => Buffer.from(html),
        (_, part) => part.length,
      ),
    ],
    [
      'what has no end',
      ({ method }, response) => {
        if (method !== 'GET') return false
        response.writeHead(200)
        const timer = setInterval(() => response.writableNeedDrain || response.write(' '.repeat(65_536)), 1)
        response.on('close', () => clearInterval(timer))
        return true
      },
    ],
  ])('never causes %s to be served as the whole file, nor as another response', async (_, lies) => {
    const { data } = (await upload(gateway, account.apiKey, file)).body
    const { pathname } = new URL(data.url)
    s3.lies = lies
    const next = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    const { text, closed } = await send(gateway, `GET ${pathname} HTTP/1.1\r\nHost: x\r\n\r\n${next}`)
    expect(closed).toBe(true)
    const [status] = text.match(/HTTP\/1\.1 \d{3}/g) as string[]
    expect(text).not.toMatch(/<html/)
    // Either the download is refused and the next request gets its response, or the connection ends in the middle of the file.
    if (status !== 'HTTP/1.1 200') return expect(text.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 500', 'HTTP/1.1 200'])
    const [head = '', ...rest] = text.split('\r\n\r\n')
    expect(rest.join('\r\n\r\n').length).toBeLessThan(Number(/^content-length: (\d+)/im.exec(head)?.[1]))
  })

  it('that refuses one deletion does not keep other leftovers from being removed', async () => {
    const made = await Promise.all(['one', 'two', 'three'].map((text) => upload(gateway, account.apiKey, text)))
    const ids: string[] = made.map(({ body }) => body.data.id)
    await sql(databaseUrl).query(
      `update media set "storedAt" = null, "createdAt" = now() - interval '3 hours' where id = any($1)`,
      [ids],
    )
    s3.lies = ({ method, url = '' }, response) => {
      if (method !== 'DELETE' || !url.includes(ids[0] as string)) return false
      return !!response.writeHead(403, { 'content-type': 'application/xml' }).end('<Error><Code>AccessDenied</Code></Error>')
    }
    const app = await openApp(databaseUrl, env)
    await sweepMedia(app)
    const left = async () => (await sql(databaseUrl).query('select id from media where id = any($1)', [ids])).rows
    expect(await left()).toEqual([{ id: ids[0] }])
    s3.lies = undefined
    await sweepMedia(app)
    expect(await left()).toEqual([])
  })

  async function mediaCount(): Promise<number> {
    return (await sql(databaseUrl).query('select from media')).rowCount ?? 0
  }
})

describe('the configuration of a bucket', () => {
  it('is rejected before anything starts if it is incomplete', async () => {
    const refused = spawnGateway({ databaseUrl, env: { MEDIA_STORE: 's3', S3_ACCESS_KEY_ID: 'x' } })
    expect((await refused.exited).code).toBe(1)
    expect(refused.logs).toEqual([
      'S3_BUCKET: is required with MEDIA_STORE=s3',
      'S3_ACCESS_KEY_ID: goes together with S3_SECRET_ACCESS_KEY; give both or neither',
    ])
  })

  it('names the package to install if it is missing', async () => {
    const hide = `import { registerHooks } from 'node:module'
      registerHooks({ resolve(name, context, next) {
        if (/^@aws-sdk\\/client-s3/.test(name)) throw Object.assign(new Error(name), { code: 'ERR_MODULE_NOT_FOUND' })
        return next(name, context)
      } })`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hide)}`
    const refused = spawnGateway({ databaseUrl, env: { ...env, NODE_OPTIONS } })
    expect((await refused.exited).code).toBe(1)
    expect(refused.logs).toEqual(['MEDIA_STORE: s3 needs @aws-sdk/client-s3; run `npm install --include=optional`'])
  })
})

// A bucket that answers wrongly causes no broken upload, no wrong download and no leftovers of other files.
import { writeFile } from 'node:fs/promises'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sweepMedia } from '../../src/media/service.ts'
import { openSpool } from '../../src/media/spool.ts'
import { openS3 } from '../../src/media/store-s3.ts'
import { sql } from '../kit/database.ts'
import type { S3Server } from '../kit/s3-server.ts'
import { until } from '../kit/until.ts'
import { openApp } from '../messages/rig.ts'
import { send } from '../promises/wire.ts'
import { openFiles, upload } from './rig.ts'
import { type Bucket, credentials, openBucket } from './s3-rig.ts'

let { s3, env, databaseUrl, account, gateway } = {} as Bucket

beforeAll(async () => {
  ;({ s3, env, databaseUrl, account, gateway } = await openBucket())
})

beforeEach(() => {
  s3.lies = undefined
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

  it('keeps no file open, if it is out of reach', async () => {
    const { DATA_DIR = '', S3_BUCKET = '' } = env
    const store = openS3({ bucket: S3_BUCKET, region: credentials.region, endpoint: 'http://127.0.0.1:1' }, credentials)
    const { path } = await openSpool(DATA_DIR)
    await writeFile(path, Buffer.alloc(1024 * 1024))
    await expect(store.put('one', path, 1024 * 1024)).rejects.toThrow()
    await until(() => openFiles(DATA_DIR) === 0)
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

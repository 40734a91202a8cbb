// Files in an S3 bucket keep the same promises as files on disk, with a server that checks signatures.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sweepMedia } from '../../src/media/service.ts'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { spawnGateway } from '../kit/gateway.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { openApp } from '../messages/rig.ts'
import { sized, upload } from './rig.ts'
import { type Bucket, credentials, openBucket } from './s3-rig.ts'

let { s3, env, databaseUrl, account, gateway } = {} as Bucket

beforeAll(async () => {
  ;({ s3, env, databaseUrl, account, gateway } = await openBucket())
})

beforeEach(() => {
  s3.fails = undefined
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
    await until(() => incoming().length === 0)
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

  it('that fails leaves no partial upload, and its errors ask to try again and reveal no details', async () => {
    const kept = await upload(gateway, account.apiKey, 'kept')
    s3.fails = 503
    const answers = [await upload(gateway, account.apiKey, 'hello')]
    const reading = await fetch(kept.body.data.url)
    answers.push({ status: reading.status, headers: reading.headers, body: await reading.json() })
    for (const { status, headers, body } of answers) {
      expect([status, headers.get('retry-after'), body.error.code]).toEqual([503, '1', 'SERVICE_UNAVAILABLE'])
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
    const app = await openApp(databaseUrl, env)
    app.stopping = true
    expect([await sweepMedia(app), s3.objects.has(other)], 'a stop does not wait for the sweep').toEqual([0, true])
    app.stopping = false
    await sweepMedia(app)
    expect(s3.objects.has(other)).toBe(false)
    const left = await sql(databaseUrl).query('select from media where id = $1', [two.body.data.id])
    expect(left.rowCount).toBe(0)
  })

  it('that lost a file leads to 404', async () => {
    const { id, url } = (await upload(gateway, account.apiKey, 'hello')).body.data
    s3.objects.delete(`/files/media/${id}`)
    expect((await fetch(url)).status).toBe(404)
  })

  it('with a wrong secret or address leads to 503 with Retry-After, whose reason is logged without a secret', async () => {
    const wrong = await openGateway({ databaseUrl, env: { ...env, S3_SECRET_ACCESS_KEY: 'the-wrong-secret-of-the-bucket' } })
    const refused = await upload(wrong, account.apiKey, 'hello')
    expect([refused.status, refused.headers.get('retry-after'), refused.body.error.code]).toEqual([
      503,
      '1',
      'SERVICE_UNAVAILABLE',
    ])
    const away = await openGateway({ databaseUrl, env: { ...env, S3_ENDPOINT: 'http://127.0.0.1:9' } })
    expect((await upload(away, account.apiKey, 'hello')).status).toBe(503)
    const told = (gate: typeof away, why: string) =>
      gate.logs.some((line) => line.includes('the bucket does not serve') && line.includes(why))
    await until(() => told(wrong, 'SignatureDoesNotMatch') && told(away, 'ECONNREFUSED'))
    const logs = [gateway, wrong, away].flatMap((each) => each.logs).join('\n')
    for (const secret of ['the-wrong-secret', credentials.secretAccessKey, account.apiKey]) expect(logs).not.toContain(secret)
  })
})

describe('the configuration of a bucket', () => {
  it('is rejected before anything starts if it is incomplete', async () => {
    const refused = spawnGateway({ databaseUrl, env: { MEDIA_STORE: 's3', S3_ACCESS_KEY_ID: 'x' } })
    expect((await refused.exited).code).toBe(1)
    expect(refused.logs).toEqual([
      'S3_BUCKET: is required with MEDIA_STORE=s3',
      'S3_ACCESS_KEY_ID: must be set together with S3_SECRET_ACCESS_KEY',
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
    expect(refused.logs).toEqual(['MEDIA_STORE: s3 requires @aws-sdk/client-s3; run `npm install --include=optional`'])
  })
})

// POST /media and GET /media/:id: records, refusals and idempotency.
import { connect } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTeam } from '../../src/teams/service.ts'
import { createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { prisma, sql } from '../kit/database.ts'
import { publicUrl, samples, sized, upload } from '../media/rig.ts'
import { countOf, expectRefusal, moment, newTenant, nobody, openRig, type Rig, text, uuid } from './rig.ts'

const mib = 1024 * 1024
let rig: Rig
let key: string

beforeAll(async () => {
  rig = await openRig()
  key = rig.tenant.account.apiKey
})

describe('an upload', () => {
  it.each(Object.entries(samples))('of %s returns its record', async (type, content) => {
    const { status, body, headers } = await upload(rig.gateway, key, content, { filename: 'evil.html', type: 'text/html' })
    expect(status).toBe(201)
    const extension = { 'image/jpeg': 'jpg', 'text/plain': 'txt', 'audio/ogg; codecs=opus': 'ogg' }[type] ?? '[a-z0-9]{3,4}'
    expect(body).toStrictEqual({
      data: { id: uuid, url: publicUrl(rig.gateway, extension), mimeType: type, size: content.length, createdAt: moment },
    })
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(headers.get('ratelimit-limit')).toBe('100000')
    expect(headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
  })

  it('is returned unchanged by id and by URL, and is readable over GraphQL', async () => {
    const content = sized('application/pdf', 3 * mib)
    const { data } = (await upload(rig.gateway, key, content)).body
    const byId = await fetch(`${rig.gateway.url}/api/v1/media/${data.id}`, { headers: { 'x-api-key': key } })
    expect([byId.status, Buffer.from(await byId.arrayBuffer()).equals(content)]).toEqual([200, true])
    expect(byId.headers.get('ratelimit-limit')).toBe('100000')
    const byUrl = await fetch(data.url)
    expect([byUrl.status, Buffer.from(await byUrl.arrayBuffer()).equals(content)]).toEqual([200, true])
    const graph = await rig.tenant.api.graphql(`{ media(id: "${data.id}") { id url mimeType size createdAt } }`)
    expect(graph.body).toEqual({ data: { media: data } })
  })

  it('has a unique URL and id, also for equal content', async () => {
    const uploads = await Promise.all(Array.from({ length: 20 }, () => upload(rig.gateway, key, 'the same')))
    expect(new Set(uploads.map(({ body }) => body.data.url)).size).toBe(20)
    expect(new Set(uploads.map(({ body }) => body.data.id)).size).toBe(20)
  })

  it('with a team key is stored in the workspace of the team', async () => {
    const account = await createAccount(rig.databaseUrl)
    const team = await createTeam(prisma(rig.databaseUrl), { ownerEmail: account.email, name: 'Team' })
    const headers = { 'x-team-id': team.teamId }
    const { status, body } = await upload(rig.gateway, team.apiKey, 'hello', { headers })
    expect(status).toBe(201)
    expect((await api(rig.gateway, team.apiKey, headers).get(`media/${body.data.id}`)).body).toBe('hello')
    expectRefusal(await api(rig.gateway, account.apiKey).get(`media/${body.data.id}`), 404, 'NOT_FOUND', 'Media not found')
    expectRefusal(await upload(rig.gateway, team.apiKey, 'hello'), 401, 'UNAUTHORIZED')
  })

  it('has a URL that a message accepts as mediaUrl', async () => {
    const { url } = (await upload(rig.gateway, key, samples['image/png'] as Buffer)).body.data
    const sent = await rig.tenant.api.post('messages/send', text(rig.tenant, { type: 'image', mediaUrl: url }))
    expect([sent.status, sent.body.data?.mediaUrl]).toEqual([201, url])
  })
})

describe('a file', () => {
  it.each<[string, () => Parameters<typeof upload>, string]>([
    ['that is empty', () => [rig.gateway, key, ''], 'file: must not be empty'],
    [
      'by another name',
      () => [rig.gateway, key, 'hello', { field: 'image' }],
      'file: is required; the form has another file instead',
    ],
    [
      'of no known type',
      () => [rig.gateway, key, Buffer.alloc(99)],
      'file: must be of a supported type: jpg, png, webp, gif, mp4, 3gp, mp3, m4a, aac, amr, ogg, pdf, doc, xls, ppt, docx, xlsx, pptx, txt',
    ],
    [
      'that only says it is an image',
      () => [rig.gateway, key, Buffer.alloc(99), { filename: 'a.png', type: 'image/png' }],
      expect.stringContaining('file: must be of a supported type'),
    ],
  ])('%s is refused', async (_, args, message) => {
    expectRefusal(await upload(...args()), 400, 'VALIDATION_ERROR', message as string)
  })

  it.each([
    ['image/png', 5, 'an image'],
    ['audio/mpeg', 16, 'an audio file'],
    ['video/mp4', 16, 'a video'],
  ])('of type %s may have at most %i MiB', async (type, most, name) => {
    const limit = most * mib
    expect((await upload(rig.gateway, key, sized(type, limit))).body.data.size).toBe(limit)
    const message = `file: must have at most ${most} MiB as ${name}`
    expectRefusal(await upload(rig.gateway, key, sized(type, limit + 1)), 413, 'PAYLOAD_TOO_LARGE', message)
  })
})

describe('a media request', () => {
  /** The response to the head of a request whose body never arrives. */
  function head(lines: string[]): Promise<string> {
    const { hostname, port } = new URL(rig.gateway.url)
    const all = ['POST /api/v1/media HTTP/1.1', 'Host: x', 'Content-Type: multipart/form-data; boundary=b', ...lines]
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(`${all.join('\r\n')}\r\n\r\n`))
      socket.once('data', (chunk) => {
        socket.destroy()
        resolve(chunk.toString())
      })
      socket.on('error', reject)
    })
  }

  it.each<[string, () => string[], number]>([
    ['no key', () => [], 401],
    ['an unknown key', () => [`x-api-key: svc_live_${'0'.repeat(64)}`], 401],
    ['a key that does not fit the team', () => [`x-api-key: ${key}`, `X-Team-Id: ${nobody}`], 403],
    ['too much, and says so', () => [`x-api-key: ${key}`, `Content-Length: ${64 * mib + 1}`], 413],
    ['a key for repeating that is none', () => [`x-api-key: ${key}`, 'Idempotency-Key: ä'], 400],
    ['another kind of body', () => [`x-api-key: ${key}`, 'Content-Encoding: gzip'], 415],
  ])('is answered before the body arrives: %s', async (_, lines, status) => {
    const given = lines()
    const length = given.some((line) => line.startsWith('Content-Length')) ? [] : ['Content-Length: 60000000']
    expect(await head([...given, ...length])).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })

  it('needs an active subscription and a remaining request quota', async () => {
    const tenant = await newTenant(rig.gateway, rig.databaseUrl)
    const length = 'Content-Length: 60000000'
    const asks = () => head([`x-api-key: ${tenant.account.apiKey}`, length])
    await sql(rig.databaseUrl).query(`update subscriptions set status = 'inactive' where "userId" = $1`, [tenant.account.userId])
    expect(await asks()).toMatch(/^HTTP\/1\.1 403 .*"SUBSCRIPTION_INACTIVE"/s)
    await sql(rig.databaseUrl).query(`update api_usage set "apiRequestsCount" = 1000000000 where "userId" = $1`, [
      tenant.account.userId,
    ])
    expect(await asks()).toMatch(/^HTTP\/1\.1 429 .*"MONTHLY_API_REQUEST_QUOTA_EXCEEDED"/s)
  })

  it('gets the same 404 for a file of another account as for a missing one', async () => {
    const { id } = (await upload(rig.gateway, key, 'hello')).body.data
    const [foreign, missing] = [await rig.stranger.api.get(`media/${id}`), await rig.stranger.api.get(`media/${nobody}`)]
    expectRefusal(foreign, 404, 'NOT_FOUND', 'Media not found')
    expect(foreign.body).toEqual(missing.body)
    const graph = await rig.stranger.api.graphql(`{ media(id: "${id}") { url } }`)
    expect(graph.body.errors[0]).toMatchObject({ message: 'Media not found', extensions: { code: 'NOT_FOUND' } })
  })
})

describe('a repeated upload', () => {
  const repeat = (content: string, name: string, headers: Record<string, string> = {}) =>
    upload(rig.gateway, key, content, { headers: { 'idempotency-key': name, ...headers } })

  it('gets the first answer again and stores nothing, whatever the form around the file', async () => {
    const first = await repeat('hello', 'one')
    const before = await countOf(rig, 'media')
    const second = await repeat('hello', 'one')
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    expect([second.status, second.headers.get('idempotency-replayed'), second.body]).toEqual([201, 'true', first.body])
    expect(await countOf(rig, 'media')).toBe(before)
    expect(await (await fetch(first.body.data.url)).text()).toBe('hello')
  })

  it('is refused with other content or on another route', async () => {
    await repeat('hello', 'two')
    expectRefusal(await repeat('hullo', 'two'), 422, 'IDEMPOTENCY_KEY_REUSED')
    const send = await rig.tenant.api.post('messages/send', text(rig.tenant), { 'idempotency-key': 'two' })
    expectRefusal(send, 422, 'IDEMPOTENCY_KEY_REUSED')
  })

  it('stores one file, however many requests arrive at once', async () => {
    const before = await countOf(rig, 'media')
    const answers = await Promise.all(Array.from({ length: 8 }, () => repeat('all at once', 'three')))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.data?.id}`)).size).toBe(1)
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') !== 'true')).toHaveLength(1)
    expect(await countOf(rig, 'media')).toBe(before + 1)
  })

  it('may carry another file after the first was refused', async () => {
    expectRefusal(await repeat('', 'four'), 400, 'VALIDATION_ERROR')
    expect((await repeat('hello', 'four')).status).toBe(201)
  })

  it('is recognized within its own workspace only', async () => {
    const mine = await repeat('hello', 'five')
    const theirs = await upload(rig.gateway, rig.stranger.account.apiKey, 'hello', { headers: { 'idempotency-key': 'five' } })
    expect([theirs.status, theirs.headers.get('idempotency-replayed')]).toEqual([201, null])
    expect(theirs.body.data.id).not.toBe(mine.body.data.id)
  })
})

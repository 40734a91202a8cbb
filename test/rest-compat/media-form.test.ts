// POST /media: which multipart forms are accepted, whatever else they contain.
import { beforeAll, describe, expect, it } from 'vitest'
import { post, publicUrl, rawForm } from '../media/rig.ts'
import { expectRefusal, openRig, type Rig } from './rig.ts'

const mib = 1024 * 1024
let rig: Rig
let key: string

beforeAll(async () => {
  rig = await openRig()
  key = rig.tenant.account.apiKey
})

describe('a form', () => {
  function form(...parts: [name: string, content: string, filename?: string][]): FormData {
    const made = new FormData()
    for (const [name, content, filename] of parts) {
      if (filename === undefined) made.append(name, content)
      else made.append(name, new Blob([content]), filename)
    }
    return made
  }
  const many = Array.from({ length: 1_000 }, (_, i) => [`f${i}`, 'x'] as [string, string])

  it.each<[string, FormData, string]>([
    ['without the file', form(['name', 'x']), 'file: is required'],
    ['with two files', form(['file', 'a', 'a'], ['file', 'b', 'b']), 'file: must be the only file'],
    ['with another file beside it', form(['file', 'a', 'a'], ['other', 'b', 'b']), 'file: must be the only file'],
    ['with 1,000 fields', form(...many), 'body: must have at most 20 parts'],
    ['with 1,000 fields after the file', form(['file', 'a', 'a'], ...many), 'body: must have at most 20 parts'],
  ])('%s is refused', async (_, body, message) => {
    expectRefusal(await post(rig.gateway, key, body), 400, 'VALIDATION_ERROR', message)
  })

  it('may have unknown fields and a file without a file name', async () => {
    expect((await post(rig.gateway, key, form(['name', 'x'], ['file', 'hello', 'a'], ['type', 'y']))).status).toBe(201)
    expect((await post(rig.gateway, key, form(['file', 'hello']))).body.data).toMatchObject({ mimeType: 'text/plain', size: 5 })
  })

  it.each<[string, string]>([
    ['empty', ''],
    ['not one', 'hello'],
    ['cut off in the file', '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhello'],
    ['cut off in the headers', '--b\r\nContent-Disposition: form-da'],
    ['of another boundary', '--c\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhello\r\n--c--'],
  ])('that is %s is refused as invalid', async (_, body) => {
    const answer = await post(rig.gateway, key, body, { 'content-type': 'multipart/form-data; boundary=b' })
    expectRefusal(answer, 400, 'VALIDATION_ERROR', 'body: is not valid multipart/form-data')
  })

  it('without a boundary is refused', async () => {
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary']) {
      expectRefusal(await post(rig.gateway, key, 'x', { 'content-type': type }), 400, 'VALIDATION_ERROR')
    }
  })

  it.each(['application/json', 'text/plain', 'image/png', 'application/x-www-form-urlencoded', 'multipart/mixed; boundary=b'])(
    'of type %s is refused with 415',
    async (type) => {
      const answer = await post(rig.gateway, key, 'x', { 'content-type': type })
      expectRefusal(answer, 415, 'UNSUPPORTED_MEDIA_TYPE', 'The body must be multipart/form-data')
    },
  )

  it('that is compressed or missing is refused with 415', async () => {
    const { body, headers } = rawForm('hello', 'form-data; name="file"; filename="a"')
    expectRefusal(await post(rig.gateway, key, body, { ...headers, 'content-encoding': 'gzip' }), 415, 'UNSUPPORTED_MEDIA_TYPE')
    expectRefusal(await rig.tenant.api.post('media'), 415, 'UNSUPPORTED_MEDIA_TYPE', 'The body must be multipart/form-data')
  })

  it('of more than 64 MiB is refused with 413, with or without Content-Length', async () => {
    const { body: said } = rawForm('x'.repeat(64 * mib), 'form-data; name="file"; filename="a"')
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    expectRefusal(await post(rig.gateway, key, said, headers), 413, 'PAYLOAD_TOO_LARGE', 'The body is too large')
    const unsaid = new Blob([said]).stream()
    expectRefusal(await post(rig.gateway, key, unsaid, headers), 413, 'PAYLOAD_TOO_LARGE', 'The body is too large')
    const most = rawForm('x'.repeat(64 * mib - (said.length - 64 * mib)), 'form-data; name="file"; filename="a"')
    expect(most.body.length).toBe(64 * mib)
    expect((await post(rig.gateway, key, most.body, headers)).status).toBe(201)
  })

  it.each([
    ['a way out', '../../../etc/passwd'],
    ['a NUL', 'a\0.png'],
    ['10 KB', 'a'.repeat(10_240)],
    ['quotes', 'a\\".png'],
    ['something that is run', '$(id).sh; rm -rf /'],
  ])('may use any file name, which is ignored: %s', async (_, name) => {
    const { body, headers } = rawForm('hello', `form-data; name="file"; filename="${name}"`)
    const answer = await post(rig.gateway, key, body, headers)
    expect([answer.status, answer.body.data?.url]).toEqual([201, publicUrl(rig.gateway, 'txt')])
  })

  it('cannot inject a response header through the file name', async () => {
    const { body, headers } = rawForm('hello', 'form-data; name="file"; filename="a\r\nSet-Cookie: a=b"')
    const answer = await post(rig.gateway, key, body, headers)
    expect([201, 400]).toContain(answer.status)
    expect(answer.headers.get('set-cookie')).toBeNull()
  })
})

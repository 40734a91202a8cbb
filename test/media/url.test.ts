// URLs of uploaded files as `mediaUrl`: exactly these are accepted, even if this gateway is on a private network.
import { beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/core/config/config.ts'
import { checkMediaUrl, newToken, readName, urlOf } from '../../src/media/url.ts'
import { expectRefusal, openOwnRig, type Rig, text } from '../rest-compat/rig.ts'
import { samples, upload } from './rig.ts'

const token = `${'A'.repeat(42)}_`
const png = { token, mimeType: 'image/png' }

function configFor(publicUrl: string | undefined) {
  return readConfig({ PUBLIC_URL: publicUrl }).config
}

describe('the URL of an uploaded file', () => {
  it.each([
    ['http://127.0.0.1:4000', `http://127.0.0.1:4000/media/${token}.png`],
    ['http://localhost:4000/', `http://localhost:4000/media/${token}.png`],
    ['https://gateway.internal/base', `https://gateway.internal/base/media/${token}.png`],
    ['https://files.example.com', `https://files.example.com/media/${token}.png`],
    ['http://[::1]:4000', `http://[::1]:4000/media/${token}.png`],
  ])('below %s is accepted', (publicUrl, url) => {
    expect(urlOf(configFor(publicUrl), png)).toBe(url)
    expect(checkMediaUrl(url, configFor(publicUrl))).toBeUndefined()
  })

  it('cannot be guessed', () => {
    const tokens = new Set(Array.from({ length: 1_000 }, newToken))
    expect(tokens.size).toBe(1_000)
    for (const each of tokens) expect(readName(`${each}.png`)).toEqual({ token: each, extension: 'png' })
    const firsts = new Set([...tokens].map((each) => each.slice(0, 4)))
    expect(firsts.size).toBeGreaterThan(990)
  })
})

describe('any URL other than that of an uploaded file', () => {
  const own = 'http://127.0.0.1:4000'
  const file = `/media/${token}.png`

  it.each([
    own,
    `${own}/`,
    `${own}/media/`,
    `${own}/media`,
    `${own}/api/v1/me`,
    `${own}/metrics`,
    `${own}/media/../metrics`,
    `${own}/media/${token}.png/../../metrics`,
    `${own}/media/${token}.png?x=1`,
    `${own}/media/${token}.png#x`,
    `${own}/media/${token}`,
    `${own}/media/${token.slice(1)}.png`,
    `${own}/media/${token}x.png`,
    `${own}/media/${token}.exe`,
    `${own}/media/${token}.png\n`,
    `${own}/media/%2e%2e/metrics`,
    `${own}//media/${token}.png`,
    `${own}/x${file}`,
    `http://127.0.0.1:4001${file}`,
    `http://127.0.0.1${file}`,
    `https://127.0.0.1:4000${file}`,
    `http://127.0.0.2:4000${file}`,
    `http://localhost:4000${file}`,
    `http://user@127.0.0.1:4000${file}`,
    `http://127.0.0.1:4000@10.0.0.1${file}`,
    `http://2130706433:4000${file}`,
    `HTTP://127.0.0.1:4000${file}`,
    'http://169.254.169.254/latest/meta-data',
  ])('is refused on a private network: %s', (url) => {
    expect(checkMediaUrl(url, configFor(own))).toBeDefined()
  })

  it('is refused while the gateway does not know its own public URL', () => {
    expect(checkMediaUrl(own + file, configFor(undefined))).toBe(
      'must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS',
    )
    expect(readConfig({}).config.publicUrl).toBeUndefined()
  })

  it('is judged like any URL if its host only begins like that of the gateway', () => {
    const config = configFor('http://10.0.0.1')
    expect(checkMediaUrl(`http://10.0.0.1.example.com${file}`, config)).toBeUndefined()
    expect(checkMediaUrl(`http://10.0.0.10${file}`, config)).toBe(
      'must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS',
    )
    expect(checkMediaUrl(`http://10.0.0.1:80${file}`, config)).toBe(
      'must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS',
    )
  })

  it.each([
    `https://files.example.com./media/${token}.png`,
    `https://FILES.example.com/media/${token}.png`,
    `https://files.example.com:443/media/${token}.png`,
    `http://files.example.com/media/${token}.png`,
    `https://files。example.com/media/${token}.png`,
    `https://files.example.com/%6dedia/${token}.png`,
    `https://files.example.com/x/../media/${token}.png`,
    `https://files.example.com/media/${token}.png?x=1`,
    `https://files.example.com/media/nothing`,
  ])('on a public host is refused if it spells the URL of an uploaded file differently: %s', (url) => {
    const config = configFor('https://files.example.com')
    expect(checkMediaUrl(url, config)).toBe('must be exactly the address that the upload returned')
  })

  it('on a public host is accepted if it cannot be an uploaded file', () => {
    const config = configFor('https://files.example.com/gateway')
    expect(checkMediaUrl('https://files.example.com/media/other.png', config)).toBeUndefined()
    expect(checkMediaUrl('https://files.example.com:8443/gateway/media/other.png', config)).toBeUndefined()
  })

  it('follows the usual rules on other hosts', () => {
    expect(checkMediaUrl('https://example.com/a.png', configFor(own))).toBeUndefined()
    expect(checkMediaUrl('ftp://example.com/a.png', configFor(own))).toBe('must be an absolute http(s) URL')
    expect(checkMediaUrl('http://10.1.2.3/a.png', { publicUrl: own, allowedPrivateTargets: ['10.0.0.0/8'] })).toBeUndefined()
  })
})

describe.each([
  ['the address listened on', {}],
  ['PUBLIC_URL', { PUBLIC_URL: 'http://192.168.7.7:8080/gateway/' }],
])('a gateway on a private network, known by %s', (_, env) => {
  let rig: Rig
  let url: string

  beforeAll(async () => {
    rig = await openOwnRig({ ALLOWED_PRIVATE_TARGETS: '', ...env })
    url = (await upload(rig.gateway, rig.tenant.account.apiKey, samples['image/png'] as Buffer)).body.data.url
  })

  it('issues URLs below its base URL', () => {
    const base = 'PUBLIC_URL' in env ? 'http://192.168.7.7:8080/gateway' : rig.gateway.url
    expect(url.slice(0, base.length + 7)).toBe(`${base}/media/`)
  })

  it('accepts its URLs in single, scheduled and bulk messages, and in templates', async () => {
    const { api } = rig.tenant
    const image = text(rig.tenant, { type: 'image', mediaUrl: url, text: undefined })
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    expect((await api.post('messages/send', image)).body.data?.mediaUrl).toBe(url)
    expect((await api.post('messages/schedule', { ...image, scheduledAt })).body.data?.mediaUrl).toBe(url)
    const bulk = await api.post('messages/bulk', { messages: [image, { ...image, mediaUrl: `${url}x` }] })
    expect(bulk.body.data).toMatchObject({ accepted: [{ index: 0 }], rejected: [{ index: 1, code: 'VALIDATION_ERROR' }] })
    const template = await api.post('templates', { name: 'Picture', type: 'image', body: 'Look', mediaUrl: url })
    expect(template.body.data?.mediaUrl).toBe(url)
    const made = await api.post('messages/send', {
      ...text(rig.tenant),
      type: undefined,
      text: undefined,
      templateId: template.body.data.id,
    })
    expect(made.body.data?.mediaUrl).toBe(url)
  })

  it('accepts no other URL on its host', async () => {
    for (const wrong of [new URL('/metrics', url).href, `${url}?x`, url.replace(/\.png$/, ''), new URL('/api/v1/me', url).href]) {
      const answer = await rig.tenant.api.post('messages/send', text(rig.tenant, { type: 'image', mediaUrl: wrong }))
      expectRefusal(
        answer,
        400,
        'VALIDATION_ERROR',
        'mediaUrl: must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS',
      )
    }
  })
})

// Proves how the console is served: its addresses, its policy, its assets, and what stays an answer of the API.
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { readManifest } from '../../src/console/manifest.ts'
import { commons } from '../kit/commons.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'

const site = commons()
const manifest = readManifest()
const script = manifest?.first.find((name) => name.startsWith('first') && name.endsWith('.js')) as string

async function look(path: string, headers: Record<string, string> = {}, gateway: { url: string } = site) {
  const response = await fetch(gateway.url + path, { redirect: 'manual', headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const addresses = [
  ...['/', '/sign-in', '/sign-up', '/reset-password', '/verify-email', '/invitation', '/billing', '/account', '/operator'],
  ...['/me', '/me/messages', '/me/messages/1', '/me/any/thing', '/t/x', '/t/x/messages', '/me/'],
]

describe('the shell', () => {
  it.each(addresses)('answers %s, and is never cached', async (path) => {
    const { status, headers, text } = await look(path)
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ])
    expect(text).toContain(`/console/assets/${script}`)
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })

  it('answers no other address, and no other method', async () => {
    for (const path of [
      '/mes',
      '/t',
      '/messages',
      '/console',
      '/console/assets',
      '/console/index.html',
      '/sign-in/x',
      '/index.html',
    ]) {
      const { status, text } = await look(path)
      expect([path, status, JSON.parse(text).error.code]).toEqual([path, 404, 'NOT_FOUND'])
    }
    expect((await fetch(`${site.url}/me`, { method: 'POST' })).status).toBe(405)
  })

  it('allows scripts, styles and requests of this origin only, and the one inline script by its hash', async () => {
    const { headers, text } = await look('/me')
    const rules = Object.fromEntries(
      (headers.get('content-security-policy') as string).split('; ').map((rule) => rule.split(/ (.*)/, 2)),
    )
    const [, inline = ''] = text.match(/<script>(.*?)<\/script>/s) ?? []
    expect(rules).toEqual({
      'default-src': "'none'",
      'script-src': `'self' 'sha256-${createHash('sha256').update(inline).digest('base64')}'`,
      'style-src': "'self'",
      'img-src': "'self' data: blob:",
      'font-src': "'self'",
      'connect-src': "'self'",
      'manifest-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'self'",
      'frame-ancestors': "'none'",
      'require-trusted-types-for': "'script'",
      'trusted-types': "'none'",
    })
    expect(text.match(/<script>/g)).toHaveLength(1)
    expect(text).not.toMatch(/https?:\/\/|<style|style=/)
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    })
  })

  it('contains no host name of a request', async () => {
    const { text, headers } = await look('/me', { 'x-forwarded-host': 'evil.example' })
    expect(text + JSON.stringify([...headers])).not.toContain('evil')
  })
})

it('the build of the console is named to pages, and to no other client', async () => {
  const query = (headers: Record<string, string>) =>
    fetch(`${site.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"query":"{ me { id } }"}',
    })
  expect((await query({})).headers.get('x-console-build')).toBeNull()
  expect((await query({ origin: site.url })).headers.get('x-console-build')).toBe(manifest?.inputs.slice(0, 16))
})

describe('an asset', () => {
  it('is immutable, and compressed as the browser accepts it', async () => {
    const path = `/console/assets/${script}`
    const plain = await look(path, { 'accept-encoding': 'identity' })
    expect([plain.status, plain.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(plain.headers.get('vary')).toContain('Accept-Encoding')
    for (const encoding of ['gzip', 'br']) {
      const answer = await look(path, { 'accept-encoding': encoding })
      expect([answer.headers.get('content-encoding'), answer.text === plain.text]).toEqual([encoding, true])
    }
    for (const [accepted, encoding] of [
      ['br;q=0, gzip', 'gzip'],
      ['br; q=0.0, gzip; q=0', null],
    ] as const)
      expect((await look(path, { 'accept-encoding': accepted })).headers.get('content-encoding')).toBe(encoding)
  })

  it.each([
    'nothing.js',
    'index.html',
    'manifest.json',
    '..%2fmanifest.json',
    '..%2f..%2fmount.ts',
    'constructor',
    '__proto__',
    '',
  ])('that does not exist is not found, and is never the shell: %s', async (name) => {
    const { status, text } = await look(`/console/assets/${name}`)
    expect([status, JSON.parse(text).error.code]).toEqual([404, 'NOT_FOUND'])
  })
})

describe('settings of the operator', () => {
  let databaseUrl: string

  beforeAll(async () => {
    databaseUrl = await cloneDatabase()
  })

  it('leave the pages to another console when one is configured', async () => {
    const gateway = await openGateway({ databaseUrl, env: { CONSOLE_URL: 'https://console.example' } })
    for (const path of addresses) expect([path, (await look(path, {}, gateway)).status]).toEqual([path, 404])
  })

  it('reach the pages: the path of the public address, single sign-on, closed sign-ups', async () => {
    const gateway = await openGateway({
      databaseUrl,
      env: { PUBLIC_URL: 'https://gateway.example/base/', SIGNUP: 'closed' },
    })
    const { text } = await look('/me', {}, gateway)
    expect(text).toContain(`"/base/console/assets/${script}"`)
    const [, settings = ''] = text.match(/name="settings" content="([^"]*)"/) ?? []
    expect(JSON.parse(settings.replaceAll('&quot;', '"'))).toEqual({
      ...{ base: '/base', provider: null, signUp: false },
      build: expect.stringMatching(/^[0-9a-f]{16}$/),
    })
  })
})

// Proves that the HTML pages load only from the gateway itself, and are neither cached nor open to other sites.
import { once } from 'node:events'
import http from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { newPerson } from '../accounts/person.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase } from '../kit/database.ts'
import { apiDocument } from '../kit/document.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { openPage } from './page-rig.ts'

interface Shown {
  status: number
  headers: http.IncomingHttpHeaders
  text: string
}

/** Requests a page as a browser does, with headers that fetch would not send. */
async function look(gateway: { url: string }, path: string, headers: Record<string, string> = {}): Promise<Shown> {
  const request = http.get(new URL(path, gateway.url), { agent: false, headers: { accept: 'text/html,*/*;q=0.8', ...headers } })
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  const parts = await response.toArray()
  return { status: response.statusCode as number, headers: response.headers, text: Buffer.concat(parts).toString('latin1') }
}

const aKey = /svc_live_[0-9a-f]{64}/
const pages = ['/docs', '/graphql']
interface Scene {
  url: string
  key: string
  databaseUrl: string
}

async function startDemo(env: Record<string, string> = {}): Promise<Scene> {
  const databaseUrl = await cloneDatabase()
  const gateway = await openGateway({ databaseUrl, env: { DEMO: '1', ...env } })
  return { url: gateway.url, key: gateway.logs.join('\n').match(aKey)?.[0] ?? '', databaseUrl }
}

let demo: Scene

beforeAll(async () => {
  demo = await startDemo()
})

describe.each(pages)('the page %s', (path) => {
  it('loads nothing from other origins, and its policy forbids it', async () => {
    const { status, headers, text } = await look(demo, path)
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    const loaded = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address as string)
    expect(loaded.filter((address) => !/^docs\/assets\/|^data:,$/.test(address))).toEqual([])
    expect(text).not.toMatch(/https?:\/\/(?!example\.com\/)/)
    // The policy would block a script or a style within the page.
    expect(text).not.toMatch(/<script>|<style|\son[a-z]+=|style=/)
    const rules = Object.fromEntries(
      (headers['content-security-policy'] as string).split('; ').map((rule) => {
        const [name, ...allowed] = rule.split(' ')
        return [name, allowed.join(' ')]
      }),
    )
    expect(rules).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self' 'unsafe-inline'",
      'img-src': "'self' data:",
      'font-src': "'self' data:",
      'connect-src': "'self'",
      'worker-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    })
  })

  it('is never cached, and not accessible to other sites', async () => {
    const { headers } = await look(demo, path)
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      // This host only, without subdomains.
      'strict-transport-security': 'max-age=31536000',
      'referrer-policy': 'no-referrer',
    })
    expect(headers['access-control-allow-origin']).toBeUndefined()
  })
})

it('shows both documents at /docs, the one for keys first', async () => {
  const shown = (await openPage(`${demo.url}/docs`)).shown() as { url: string }[]
  expect(shown.map(({ url }) => url)).toEqual([`${demo.url}/api/v1/openapi.json`, `${demo.url}/api/openapi.json`])
})

it("uses no host name from a request, not even from a trusted proxy's headers", async () => {
  const gateway = await openGateway({ databaseUrl: demo.databaseUrl, env: { TRUST_PROXY: '1' } })
  const named = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    'x-forwarded-for': '203.0.113.5',
  }
  for (const path of [...pages, '/api/v1/openapi.json', '/api/openapi.json', '/api/auth/oauth/sso', '/nothing']) {
    const { text, headers } = await look(gateway, path, named)
    expect([path, (text + JSON.stringify(headers)).includes('evil')]).toEqual([path, false])
  }
})

it('serves GraphiQL outside production only', async () => {
  const { url } = await startDemo({ NODE_ENV: 'production' })
  const { status, text } = await look({ url }, '/graphql')
  expect([status, JSON.parse(text).errors[0].extensions.code]).toEqual([401, 'UNAUTHORIZED'])
  expect((await look({ url }, '/docs')).status).toBe(200)
})

it('shows GraphiQL to browsers, and executes requests of other clients', async () => {
  const query = `/graphql?query=${encodeURIComponent('{ plans { code } }')}`
  expect((await look(demo, query)).headers['content-type']).toBe('text/html; charset=utf-8')
  const asked = await look(demo, query, { 'x-api-key': demo.key })
  expect(JSON.parse(asked.text).data.plans).toHaveLength(3)
  expect((await look(demo, query, { accept: '*/*' })).status).toBe(401)
})

it.each([
  ['/docs/', '/docs'],
  ['/graphql/?query=x', '/graphql?query=x'],
])('leads a browser at %s to the page, whose assets are relative to its address', async (from, to) => {
  const { status, headers } = await look(demo, from)
  expect([status, new URL(headers.location as string, demo.url + from).href]).toEqual([308, demo.url + to])
})

it.each(['/docs?from=https://example.com/', '/graphql?from=https://example.com/&x=/?'])(
  'shows the page whatever its query ends with: %s',
  async (path) => {
    const { status, headers } = await look(demo, path)
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  },
)

describe('an asset of the pages', () => {
  const ours = ['key-form.css', 'key-form.js', 'reference.js', 'explorer.css', 'explorer.js']
  const theirs = ['scalar.js', 'graphiql.js', 'graphiql.css', 'editor-worker.js', 'json-worker.js', 'graphql-worker.js']

  it.each([...ours, ...theirs])('is served compressed and cacheable: %s', async (name) => {
    const path = `/docs/assets/${name}`
    const plain = await look(demo, path)
    expect([plain.status, plain.headers['content-type']]).toEqual([
      200,
      `text/${name.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`,
    ])
    const small = await look(demo, path, { 'accept-encoding': 'gzip, br' })
    expect(small.headers['content-encoding']).toBe('gzip')
    expect(small.text.length).toBeLessThan(plain.text.length * (theirs.includes(name) ? 0.6 : 1))
    expect((await look(demo, path, { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding']).toBeUndefined()
    const etag = plain.headers.etag as string
    expect((await look(demo, path, { 'if-none-match': etag })).status).toBe(304)
  })

  it('with an unknown name is not found', async () => {
    for (const name of ['nothing.js', 'pages.ts', 'reference.html', '..%2f..%2fpackage.json', 'constructor', '__proto__']) {
      const { status, text } = await look(demo, `/docs/assets/${name}`)
      expect([status, JSON.parse(text).error.code]).toEqual([404, 'NOT_FOUND'])
    }
  })
})

describe.each([
  ['/api/v1', 'public'],
  ['/api', 'console'],
] as const)('GET %s/openapi.json', (prefix, surface) => {
  const at = `${prefix}/openapi.json`
  /** The examples contain the first of a month half a year ahead, and a new month may have begun during the run. */
  const undated = (document: unknown) =>
    JSON.parse(JSON.stringify(document).replaceAll(/\d{4}-\d\d(?=-01T00:00:00\.000Z)/g, 'YYYY-MM'))

  it('returns the document without a key and without an envelope', async () => {
    const { status, headers, body } = await api(demo).get(at)
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    expect(undated(body)).toEqual(undated(apiDocument(surface)))
    expect(headers.get('ratelimit-limit')).toBeNull()
  })

  it('returns 304 until the document changes', async () => {
    const { headers } = await api(demo).get(at)
    const etag = headers.get('etag') as string
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await api(demo).get(at, { 'if-none-match': known })
      expect([again.status, again.body]).toEqual([304, ''])
    }
    expect((await api(demo).get(at, { 'if-none-match': '"other"' })).status).toBe(200)
  })

  it('states the public address of the API', async () => {
    const { url } = await startDemo({ PUBLIC_URL: 'https://gateway.example/' })
    expect((await api({ url }).get(at)).body.servers[0].url).toBe(`https://gateway.example${prefix}`)
    expect((await api(demo).get(at)).body.servers[0].url).toBe(prefix)
  })
})

it('names the session cookie as it is set at the public address', async () => {
  for (const [address, name] of [
    ['https://gateway.example', '__Secure-gateway.session_token'],
    ['http://gateway.example', 'gateway.session_token'],
  ] as const) {
    const { url, databaseUrl } = await startDemo({ PUBLIC_URL: address })
    const { body } = await api({ url }).get('/api/openapi.json')
    expect(body.components.securitySchemes.Session.name).toBe(name)
    expect((await newPerson({ url }, databaseUrl)).cookie.split('=')[0]).toBe(name)
  }
})

// Proves that the demo key is in no page, and is handed out once, only to a browser that proves to be entitled to it.
import { once } from 'node:events'
import http from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { createLinks, linkHeader, linkLifeMs } from '../../src/demo/links.ts'
import { newPerson } from '../accounts/person.ts'
import { api } from '../kit/api.ts'
import { command } from '../kit/command.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { openPage, programOf } from './page-rig.ts'

const aKey = /svc_live_[0-9a-f]{64}/
const pages = ['/docs', '/graphql'] as const
const consolePages = ['/', '/billing', '/verify-email', '/reset-password', '/invitation', '/sign-in', '/me']

interface Scene {
  gateway: OpenGateway
  url: string
  key: string
  databaseUrl: string
  /** The printed link of each page, with its token. */
  links: Record<(typeof pages)[number], string>
}

async function startDemo(env: Record<string, string> = {}, databaseUrl?: string): Promise<Scene> {
  databaseUrl ??= await cloneDatabase()
  const gateway = await openGateway({ databaseUrl, env: { DEMO: '1', ...env } })
  const text = gateway.logs.join('\n')
  const link = (path: string) => text.match(new RegExp(`http\\S*${path}#link=\\S{43}`))?.[0] ?? ''
  return {
    gateway,
    url: gateway.url,
    key: text.match(aKey)?.[0] ?? '',
    databaseUrl,
    links: { '/docs': link('/docs'), '/graphql': link('/graphql') },
  }
}

const tokenOf = (link: string) => new URL(link).hash.replace('#link=', '')

/** Requests the key as a page does; `origin` is the page's own by default. */
async function askForKey({ url }: { url: string }, headers: Record<string, string>, origin: string | null = url) {
  const response = await fetch(`${url}/docs/key`, { method: 'POST', headers: { ...(origin !== null && { origin }), ...headers } })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as { data?: { key: string }; error?: { code: string } },
  }
}

let demo: Scene

beforeAll(async () => {
  demo = await startDemo()
})

it('each start prints a link that signs in to the demo account once', async () => {
  const [, token] = demo.gateway.logs.join('\n').match(/^console: http:\S+\/sign-in#once=([\w-]{32})$/m) ?? []
  const open = () =>
    fetch(`${demo.url}/api/auth/login/link`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: demo.url },
      body: JSON.stringify({ token }),
    })
  const answer = await open()
  expect(answer.status).toBe(200)
  expect((await answer.json()).data.user.email).toBe('demo@example.com')
  expect((await open()).status).toBe(400)
})

it('the demo key appears in nothing that is served, whatever the path and headers', async () => {
  const { port } = new URL(demo.url)
  const callers: Record<string, string>[] = [
    {},
    { host: `127.0.0.1:${port}` },
    { host: `localhost:${port}` },
    { host: 'gateway.example' },
    { 'x-forwarded-for': '127.0.0.1' },
    { referer: `${demo.url}/docs`, origin: demo.url },
  ]
  const paths = [
    ...pages,
    ...consolePages,
    '/api/v1/openapi.json',
    '/api/openapi.json',
    '/docs/assets/graphiql.css',
    '/livez',
    '/readyz',
    '/nothing',
  ]
  for (const path of paths) {
    for (const headers of callers) {
      const request = http.get(new URL(path, demo.url), { agent: false, headers: { accept: 'text/html,*/*;q=0.8', ...headers } })
      const [response] = (await once(request, 'response')) as [http.IncomingMessage]
      const text = Buffer.concat(await response.toArray()).toString('latin1') + JSON.stringify(response.headers)
      expect([path, headers, text.match(/svc_live_[0-9a-f]{8,}/)?.[0]]).toEqual([path, headers, undefined])
    }
  }
  expect(demo.key).toMatch(aKey)
})

describe.each(pages)('the page %s', (path) => {
  it('redeems the printed link once, keeps the key for the tab, and removes the token from the address', async () => {
    const scene = await startDemo()
    const opened = await openPage(scene.links[path])
    expect(opened.address()).toBe(scene.url + path)
    expect([...opened.stored]).toEqual([['gateway.key', scene.key]])
    expect(JSON.stringify(opened.shown())).toContain(scene.key)
    expect([opened.element('field').value, opened.element('mine').hidden]).toEqual([scene.key, true])
    const again = await openPage(scene.links[path])
    expect([again.said(), [...again.stored]]).toEqual(['This link was already used or has expired', []])
    expect(JSON.stringify(again.shown())).not.toMatch(aKey)
    // The tab continues with the stored key.
    const later = await openPage(scene.url + path, { stored: opened.stored })
    expect(JSON.stringify(later.shown())).toContain(scene.key)
  })

  it('asks for a key, and forgets it on request', async () => {
    const opened = await openPage(demo.url + path)
    expect([opened.element('field').value, opened.element('forget').hidden, [...opened.stored]]).toEqual(['', true, []])
    opened.element('field').value = ` ${demo.key} `
    await opened.element('key').send('submit')
    expect([opened.reloads(), [...opened.stored]]).toEqual([1, [['gateway.key', demo.key]]])
    const again = await openPage(demo.url + path, { stored: opened.stored })
    expect(JSON.stringify(again.shown())).toContain(demo.key)
    await again.element('forget').send('click')
    expect([again.reloads(), again.stored.size]).toEqual([1, 0])
  })

  it('gets the key for its signed-in owner, and for no other person', async () => {
    const password = 'the password of the demo'
    await command(['account', 'password', '--email', 'demo@example.com', '--password', password], {
      databaseUrl: demo.databaseUrl,
    })
    const login = await api(demo).post('/api/auth/login', { email: 'demo@example.com', password })
    const cookie = (login.headers.getSetCookie()[0] as string).split(';')[0] as string
    const opened = await openPage(demo.url + path, { cookie })
    await opened.element('mine').send('click')
    expect([opened.said(), opened.reloads(), opened.stored.get('gateway.key')]).toEqual(['', 1, demo.key])
    const other = await newPerson(demo, demo.databaseUrl)
    const theirs = await openPage(demo.url + path, { cookie: other.cookie })
    await theirs.element('mine').send('click')
    expect([theirs.said(), theirs.stored.size]).toEqual(['A key is shown only once, when it is created; paste one of yours', 0])
    const nobody = await openPage(demo.url + path)
    await nobody.element('mine').send('click')
    expect([nobody.said(), nobody.stored.size]).toEqual(['You are not signed in in the console.', 0])
  })

  it('uses relative addresses, so that it works below a path of another server', async () => {
    const text = await (await fetch(demo.url + path, { headers: { accept: 'text/html' } })).text()
    const loaded = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address as string)
    expect(loaded.filter((address) => !/^docs\/assets\/|^data:,$/.test(address))).toEqual([])
    expect(await programOf(text, new URL(demo.url))).not.toMatch(/['"`(}]\/(api|graphql|docs)/)
  })
})

describe('POST /docs/key', () => {
  it('returns the key for a token once, however many concurrent requests use it', async () => {
    const scene = await startDemo()
    const token = tokenOf(scene.links['/docs'])
    const answers = await Promise.all(Array.from({ length: 20 }, () => askForKey(scene, { [linkHeader]: token })))
    expect(answers.filter(({ status }) => status === 200).map(({ body }) => body.data)).toEqual([{ key: scene.key }])
    const refused = answers.filter(({ status }) => status !== 200)
    expect([...new Set(refused.map(({ status, body }) => `${status} ${body.error?.code}`))]).toEqual(['400 INVALID_TOKEN'])
    for (const { headers } of answers) expect(headers.get('cache-control')).toBe('no-store')
  })

  it('refuses a foreign origin, and leaves the token valid', async () => {
    const scene = await startDemo()
    const header = { [linkHeader]: tokenOf(scene.links['/docs']) }
    const others = [null, '', 'null', 'https://evil.example', 'http://127.0.0.1:1', `${scene.url}.evil.example`, `${scene.url}/`]
    for (const origin of others) {
      const { status, body } = await askForKey(scene, header, origin)
      expect([origin, status, body.error?.code]).toEqual([origin, 403, 'FORBIDDEN'])
    }
    expect((await askForKey(scene, header)).status).toBe(200)
  })

  it('refuses invalid tokens and unauthenticated callers', async () => {
    for (const wrong of ['', 'x', 'A'.repeat(43), 'A'.repeat(5_000)]) {
      const { status, body } = await askForKey(demo, { [linkHeader]: wrong })
      expect([status, body.error?.code]).toEqual([400, 'INVALID_TOKEN'])
    }
    const nobody: Record<string, string>[] = [{}, { authorization: 'Bearer x' }, { 'x-api-key': demo.key }]
    for (const headers of nobody) {
      const { status, body } = await askForKey(demo, headers)
      expect([status, body.error?.code]).toEqual([401, 'UNAUTHORIZED'])
    }
    expect((await fetch(`${demo.url}/docs/key`)).status).toBe(405)
  })

  it('refuses a revoked key, and does not exist without the demo or in production', async () => {
    const scene = await startDemo()
    await sql(scene.databaseUrl).query('update api_keys set "revokedAt" = now()')
    const revoked = await askForKey(scene, { [linkHeader]: tokenOf(scene.links['/docs']) })
    expect([revoked.status, revoked.body.error?.code]).toEqual([404, 'NOT_FOUND'])
    const closed: Record<string, string>[] = [{ DEMO: '0' }, { NODE_ENV: 'production' }]
    for (const env of closed) {
      const other = await startDemo(env, demo.databaseUrl)
      expect(other.gateway.logs.join('\n')).not.toMatch(/#(link|once)=/)
      const { status, body } = await askForKey(other, { [linkHeader]: 'A'.repeat(43) })
      expect([status, body.error?.code]).toEqual([404, 'NOT_FOUND'])
    }
  })

  it("accepts a new link of each start, under the gateway's public URL", async () => {
    const again = await startDemo({ PUBLIC_URL: 'https://gateway.example/base' }, demo.databaseUrl)
    expect(again.gateway.logs.join('\n')).not.toMatch(aKey)
    const link = again.gateway.logs.join('\n').match(/https:\/\/gateway\.example\/base\/docs#link=(\S{43})/)?.[1] as string
    const { body } = await askForKey(again, { [linkHeader]: link }, 'https://gateway.example')
    expect(body.data).toEqual({ key: demo.key })
  })
})

describe('a link', () => {
  it('works once, and for ten minutes', () => {
    let now = 0
    const links = createLinks(() => now)
    const [first, second, third] = [links.make(), links.make(), links.make()]
    expect(new Set([first, second, third]).size).toBe(3)
    expect(first).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(links.use('x')).toBe(false)
    expect([links.use(first), links.use(first)]).toEqual([true, false])
    now = linkLifeMs - 1
    expect(links.use(second)).toBe(true)
    now = linkLifeMs
    expect(links.use(third)).toBe(false)
    expect(linkLifeMs).toBe(600_000)
  })
})

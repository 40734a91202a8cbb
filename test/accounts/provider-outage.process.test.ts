// An outage of the identity provider stops no password login, and sign-ins through the provider work again once it ends.
import { createServer, type Socket } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { asBrowser, browse, openProvider } from './identity-provider.ts'
import { logIn, newAccount } from './person.ts'
import { consoleUrl, openSingleSignOn, type SingleSignOn } from './single-sign-on-rig.ts'

let databaseUrl: SingleSignOn['databaseUrl']
let provider: SingleSignOn['provider']
let gateway: SingleSignOn['gateway']
let start: SingleSignOn['start']
let issuer: SingleSignOn['issuer']
let signInThere: SingleSignOn['signInThere']

beforeAll(async () => {
  ;({ databaseUrl, provider, gateway, start, issuer, signInThere } = await openSingleSignOn())
})

/** Signs in at the provider up to the redirect back; returns the callback URL and the cookie for it. */
async function arrive(): Promise<{ location: string; cookie: string }> {
  // Asked again on a busy machine, where the provider may answer too late.
  const begun = await until(async () => {
    const answer = await fetch(start(), { redirect: 'manual' })
    return answer.status === 302 && answer
  })
  const [cookie] = begun.headers.getSetCookie().map((line) => line.split(';', 1)[0] as string)
  const { location } = await browse(begun.headers.get('location') as string, [issuer()])
  return { location, cookie: cookie as string }
}

describe('a provider outage', () => {
  it('at the start of the gateway does not affect password logins, and ends as soon as the provider is back', async () => {
    const own = await cloneDatabase()
    const sockets = new Set<Socket>()
    const silent = createServer((socket) => sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
    const { port } = silent.address() as { port: number }
    atEnd('test', async () => void silent.close())
    const env = { ...provider.env, OIDC_DISCOVERY_URL: `http://127.0.0.1:${port}/.well-known/openid-configuration` }
    const alone = await startGateway({ databaseUrl: own, env })
    const { email } = await newAccount(own)
    // Password logins succeed while another request waits for the provider.
    await until(async () => {
      let answered = false
      const asked = api(alone)
        .get('/api/auth/oauth/example')
        .finally(() => {
          answered = true
        })
      const { status } = await logIn(alone, email)
      const meanwhile = !answered
      expectRefusal(await asked, 503, 'SERVICE_UNAVAILABLE', 'The identity provider example cannot be reached')
      return meanwhile && status === 200
    })
    expect(sockets.size).toBeGreaterThan(0)
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => silent.close(resolve))
    expectRefusal(await api(alone).get('/api/auth/oauth/example'), 503, 'SERVICE_UNAVAILABLE')
    const browser = await fetch(`${alone.url}/api/auth/oauth/example`, { redirect: 'manual', headers: asBrowser })
    expect([browser.status, browser.headers.get('location')]).toEqual([302, `${alone.url}/?error=temporarily_unavailable`])
    const back = await openProvider(port)
    back.allow(`${alone.url}/api/auth/oauth/example/callback`)
    const answer = await api(alone).get('/api/auth/oauth/example')
    expect({ status: answer.status, there: answer.headers.get('location')?.startsWith(`http://127.0.0.1:${port}/`) }).toEqual({
      status: 302,
      there: true,
    })
    // Without a console URL the callback leads to a page of the gateway itself.
    const failed = await api(alone).get('/api/auth/oauth/example/callback?error=access_denied&state=forged')
    const end = new URL(failed.headers.get('location') as string)
    expect([end.origin, end.pathname, end.searchParams.has('error')]).toEqual([alone.url, '/', true])
    expect((await fetch(end)).headers.get('content-type')).toBe('text/html; charset=utf-8')
  })

  it('during a sign-in ends in a timeout, and does not affect password logins', async () => {
    const there = await Promise.all(Array.from({ length: 110 }, arrive))
    // The provider answers byte by byte without end.
    const hanging = { now: 0, most: 0 }
    provider.instead = (_, response) => {
      hanging.most = Math.max(hanging.most, ++hanging.now)
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 100)
      response.on('close', () => {
        hanging.now--
        clearInterval(drip)
      })
    }
    const [person, ...programs] = there.map(({ location, cookie }, at) =>
      fetch(location, { redirect: 'manual', headers: { cookie, ...(at === 0 && asBrowser) } }),
    )
    const { email } = await newAccount(databaseUrl)
    expect((await logIn(gateway, email)).status).toBe(200)
    const refused = {
      error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringMatching(/at the same time|does not answer/) },
    }
    for (const answer of await Promise.all(programs)) expect([answer.status, await answer.json()]).toEqual([503, refused])
    expect((await person)?.headers.get('location')).toBe(`${consoleUrl}/?error=temporarily_unavailable`)
    // The requests to the provider are aborted once nothing waits for them.
    await until(() => hanging.now === 0)
    expect(hanging.most).toBeGreaterThan(0)
    expect(hanging.most).toBeLessThanOrEqual(100)
    provider.instead = null
    // Tried again on a busy machine, where the provider may answer too late.
    await until(async () => (await signInThere({})).session)
  })
})

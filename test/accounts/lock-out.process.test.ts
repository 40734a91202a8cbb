// Wrong guesses by strangers lock nobody out: failures are counted by address and network, and separately for known devices.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { countDigest } from '../../src/accounts/counts.ts'
import { type Answer, api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type OpenGateway, openGateways } from '../kit/open-gateway.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { newAccount, password } from './person.ts'

let databaseUrl: string
let gateways: readonly [OpenGateway, OpenGateway]

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  const env = { TRUST_PROXY: '1', PUBLIC_URL: 'http://gateway.example.com' }
  gateways = await openGateways({ databaseUrl, env })
})

interface From {
  ip: string
  cookie?: string | undefined
  node?: 0 | 1
}

const here: From = { ip: '203.0.113.1' }

function logIn(email: string, tried: string, { ip, cookie, node = 0 }: From = here): Promise<Answer> {
  const headers = { 'x-forwarded-for': ip, ...(cookie ? { cookie } : {}) }
  return api(gateways[node]).post('/api/auth/login', { email, password: tried }, headers)
}

const fail = async (email: string, times: number, from?: From) => {
  for (let i = 0; i < times; i++) expectRefusal(await logIn(email, 'wrong password', from), 401, 'INVALID_CREDENTIALS')
}

/** A network that no test has used before. */
let networks = 0
const elsewhere = (): From => ({ ip: `198.51.${Math.floor(++networks / 250)}.${networks % 250}` })

/** The device cookie that an answer sets. */
function deviceCookieOf(answer: Answer): string {
  const line = answer.headers.getSetCookie().find((one) => one.startsWith('gateway.device=')) as string
  return line.split(';', 1)[0] as string
}

async function knownDevice(email: string, from: From = here): Promise<string> {
  const answer = await logIn(email, password, from)
  expect(answer.status).toBe(200)
  return deviceCookieOf(answer)
}

/** Ages all counted failures by this many seconds. */
async function age(seconds: number): Promise<void> {
  await sql(databaseUrl).query(
    'update email_counts set at = array(select t - make_interval(secs => $1) from unnest(at) t order by 1)',
    [seconds],
  )
}

/** Moves all counted failures ten minutes ahead, so that no wait ends before the test ages them, however slow the machine is. */
const halt = () => age(-600)

/** The seconds since the last failure for that address in the count over all networks. */
async function sinceLast(email: string): Promise<number> {
  const { rows } = await sql(databaseUrl).query<{ seconds: number }>(
    'select extract(epoch from now() - at[cardinality(at)])::float as seconds from email_counts where digest = $1',
    [countDigest(`login\n${email}`, 'everybody')],
  )
  return rows[0]?.seconds as number
}

const secondsOf = (answer: Answer) => Number(answer.headers.get('retry-after'))

describe('five wrong guesses from one network', () => {
  it('do not lock out the owner in another network, on any process', async () => {
    const { email } = await newAccount(databaseUrl)
    const attacker = elsewhere()
    await fail(email, 5, attacker)
    for (const node of [0, 1] as const) {
      const refused = await logIn(email, password, { ...attacker, node })
      expectRefusal(refused, 429, 'API_RATE_LIMIT_EXCEEDED')
      expect(secondsOf(refused)).toBeGreaterThan(700)
      expect((await logIn(email, password, { ...elsewhere(), node })).status).toBe(200)
    }
  })

  it('are counted for a whole IPv6 /64, and for no other', async () => {
    const { email } = await newAccount(databaseUrl)
    for (let i = 1; i <= 5; i++) await fail(email, 1, { ip: `2001:db8:0:1::${i}` })
    expectRefusal(await logIn(email, password, { ip: '2001:db8:0:1:ffff::1' }), 429, 'API_RATE_LIMIT_EXCEEDED')
    expect((await logIn(email, password, { ip: '2001:db8:0:2::1' })).status).toBe(200)
  })

  it('are counted for an IPv4 address in either of its forms', async () => {
    const { email } = await newAccount(databaseUrl)
    const { ip } = elsewhere()
    await fail(email, 3, { ip })
    await fail(email, 2, { ip: `::ffff:${ip}` })
    expectRefusal(await logIn(email, password, { ip }), 429, 'API_RATE_LIMIT_EXCEEDED')
  })

  it('do not lock out a known device in the same network, even after it signed out', async () => {
    const { email } = await newAccount(databaseUrl)
    const login = await logIn(email, password)
    const cookie = login.headers
      .getSetCookie()
      .map((line) => line.split(';', 1)[0])
      .join('; ')
    const out = await api(gateways[0]).post('/api/auth/logout', undefined, { cookie, 'x-forwarded-for': here.ip })
    expect(out.headers.getSetCookie().filter((line) => line.startsWith('gateway.device='))).toEqual([])
    await fail(email, 5)
    expectRefusal(await logIn(email, password), 429, 'API_RATE_LIMIT_EXCEEDED')
    expect((await logIn(email, password, { ...here, cookie: deviceCookieOf(login), node: 1 })).status).toBe(200)
    // The login of the device did not reset the failures of the network.
    expectRefusal(await logIn(email, password), 429, 'API_RATE_LIMIT_EXCEEDED')
  })
})

describe('wrong guesses from many networks', () => {
  it.each(['known', 'unknown'])('double the wait of strangers with each further one: %s address', async (kind) => {
    const account = await newAccount(databaseUrl)
    const device = await knownDevice(account.email)
    const email = kind === 'known' ? account.email : `${randomUUID()}@example.com`
    for (let i = 0; i < 20; i++) await fail(email, 1, { ...elsewhere(), node: (i % 2) as 0 | 1 })
    for (const seconds of [15, 30, 60, 120]) {
      await halt()
      const before = await sinceLast(email)
      // Refusals do not make the wait longer: the second attempt gets the same wait.
      for (let i = 0; i < 2; i++) {
        const refused = await logIn(email, 'wrong password', elsewhere())
        expectRefusal(refused, 429, 'API_RATE_LIMIT_EXCEEDED')
        expect(secondsOf(refused)).toBeLessThanOrEqual(Math.ceil(seconds - before))
        expect(secondsOf(refused)).toBeGreaterThanOrEqual(Math.floor(seconds - (await sinceLast(email))))
      }
      await age(600 + seconds)
      await fail(email, 1, elsewhere())
    }
    await halt()
    if (kind === 'unknown') return
    expectRefusal(await logIn(email, password, elsewhere()), 429, 'API_RATE_LIMIT_EXCEEDED')
    expect((await logIn(email, password, { ...elsewhere(), cookie: device })).status).toBe(200)
    await age(840)
    expect((await logIn(email, password, elsewhere())).status).toBe(200)
  })

  it("are not counted for the owner's network while they are refused", async () => {
    const { email } = await newAccount(databaseUrl)
    for (let i = 0; i < 20; i++) await fail(email, 1, elsewhere())
    const owner = elsewhere()
    await halt()
    for (let i = 0; i < 8; i++) expect((await logIn(email, 'wrong password', owner)).status).toBe(429)
    await age(615)
    expect((await logIn(email, password, owner)).status).toBe(200)
  })
})

describe('a device that signed in before', () => {
  it('is known for a year by an HttpOnly cookie that is no session', async () => {
    const { email } = await newAccount(databaseUrl)
    const answer = await logIn(email, password)
    const [session, device] = answer.headers.getSetCookie() as [string, string]
    expect(session).toMatch(/^gateway\.session_token=/)
    expect(device).toMatch(/^gateway\.device=[\w-]+; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/)
    const cookie = device.split(';', 1)[0] as string
    expectRefusal(await api(gateways[0]).post('/api/auth/token', undefined, { cookie }), 401, 'UNAUTHORIZED')
  })

  it('waits ever longer after five failures, which are not counted for others', async () => {
    const { email } = await newAccount(databaseUrl)
    const known = { ...here, cookie: await knownDevice(email) }
    await fail(email, 5, known)
    await halt()
    const refused = await logIn(email, password, { ...known, node: 1 })
    expectRefusal(refused, 429, 'API_RATE_LIMIT_EXCEEDED')
    expect(secondsOf(refused)).toBeLessThanOrEqual(615)
    expect((await logIn(email, password, here)).status).toBe(200)
    await age(615)
    await fail(email, 1, known)
    await halt()
    await age(615)
    expectRefusal(await logIn(email, password, known), 429, 'API_RATE_LIMIT_EXCEEDED')
    await age(15)
    expect((await logIn(email, password, known)).status).toBe(200)
    // The successful login reset all failures of the device.
    await fail(email, 5, known)
  })

  it('is known for its own accounts only', async () => {
    const [mine, theirs] = [await newAccount(databaseUrl), await newAccount(databaseUrl)]
    const attacker = { ...elsewhere(), cookie: await knownDevice(mine.email) }
    await fail(theirs.email, 5, attacker)
    expectRefusal(await logIn(theirs.email, password, attacker), 429, 'API_RATE_LIMIT_EXCEEDED')
    // A device that signed in to both accounts is known for both.
    const both = deviceCookieOf(await logIn(theirs.email, password, { ...elsewhere(), cookie: attacker.cookie }))
    for (const { email } of [mine, theirs]) {
      const from = elsewhere()
      await fail(email, 5, from)
      expect((await logIn(email, password, { ...from, cookie: both })).status).toBe(200)
    }
  })

  it.each([
    ['made up', () => 'gateway.device=AAAA'],
    ['altered', (cookie: string) => cookie.replace(/.(.)$/, (pair) => (pair[0] === 'A' ? `B${pair[1]}` : `A${pair[1]}`))],
    ['empty', () => 'gateway.device='],
    ['no text', () => `gateway.device=${Buffer.alloc(400, 7).toString('base64url')}`],
  ])('is not known by a cookie that is %s', async (_, forge) => {
    const { email } = await newAccount(databaseUrl)
    const cookie = forge(await knownDevice(email))
    const from = elsewhere()
    await fail(email, 5, from)
    expectRefusal(await logIn(email, password, { ...from, cookie }), 429, 'API_RATE_LIMIT_EXCEEDED')
  })

  it('gets its cookie on renewal of a session that has none', async () => {
    const { email } = await newAccount(databaseUrl)
    const login = await logIn(email, password)
    const session = login.headers.getSetCookie()[0]?.split(';', 1)[0] as string
    const renew = (cookie: string) => api(gateways[0]).post('/api/auth/token', undefined, { cookie })
    const cookie = deviceCookieOf(await renew(session))
    const from = elsewhere()
    await fail(email, 5, from)
    expect((await logIn(email, password, { ...from, cookie })).status).toBe(200)
    // An existing cookie is not replaced.
    const lines = (await renew(`${session}; ${cookie}`)).headers.getSetCookie()
    expect(lines.filter((line) => line.startsWith('gateway.device='))).toEqual([])
  })
})

describe('a signed-in person', () => {
  it('changes the password despite guesses by strangers, and is slowed down by their own wrong ones', async () => {
    const { email } = await newAccount(databaseUrl)
    const { accessToken } = (await logIn(email, password)).body.data
    await fail(email, 5)
    const change = (currentPassword: string) =>
      api(gateways[1]).post(
        '/api/auth/password/change',
        { currentPassword, newPassword: password },
        { authorization: `Bearer ${accessToken}`, 'x-forwarded-for': here.ip },
      )
    expect((await change(password)).status).toBe(200)
    for (let i = 0; i < 5; i++) expectRefusal(await change('wrong password'), 401, 'INVALID_CREDENTIALS')
    await halt()
    expectRefusal(await change(password), 429, 'API_RATE_LIMIT_EXCEEDED')
    await age(615)
    expect((await change(password)).status).toBe(200)
  })
})

// Every forged access token gets the same 401.
import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { uuid } from '../rest-compat/rig.ts'
import { openMailbox } from './mailbox.ts'
import { newPerson, type Person, password } from './person.ts'

let databaseUrl: string
let gateway: OpenGateway
let person: Person
let other: Person
let mailTokens: { verify: string; reset: string }

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  const mailbox = await openMailbox()
  gateway = await openGateway({ databaseUrl, env: { SMTP_URL: mailbox.url } })
  ;[person, other] = await Promise.all([newPerson(gateway, databaseUrl), newPerson(gateway, databaseUrl)])
  const client = api(gateway)
  const email = 'mail@example.com'
  await client.post('/api/auth/signup', { email, password, name: 'Mail' })
  await client.post('/api/auth/password/forgot', { email })
  const [first, second] = [await mailbox.token(email, 0), await mailbox.token(email, 1)]
  mailTokens = { verify: first, reset: second }
})

const encode = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const headerOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0] as string, 'base64url').toString())
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString())

const own = generateKeyPairSync('ed25519')
/** Signs with the attacker's key. */
function forge(header: object, claims: unknown): string {
  const signed = `${encode(header)}.${encode(claims)}`
  return `${signed}.${sign(null, Buffer.from(signed), own.privateKey).toString('base64url')}`
}

function hmac(header: object, claims: object, key: string | Buffer): string {
  const signed = `${encode(header)}.${encode(claims)}`
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
}

const publicJwk = own.publicKey.export({ format: 'jwk' })

/** Builds each forgery from a valid token. */
const forgeries: Record<string, (good: string) => string> = {
  'no token': () => '',
  'not a token': () => 'x',
  'an API key': () => person.apiKey,
  'alg none': (good) => `${encode({ alg: 'none' })}.${good.split('.')[1]}.`,
  'alg None with the signature': (good) => `${encode({ ...headerOf(good), alg: 'None' })}.${good.split('.').slice(1).join('.')}`,
  'alg nOnE': (good) => `${encode({ alg: 'nOnE', kid: headerOf(good).kid })}.${good.split('.')[1]}.`,
  'an unknown alg': (good) => forge({ ...headerOf(good), alg: 'XX999' }, claimsOf(good)),
  'another key under our kid': (good) => forge(headerOf(good), claimsOf(good)),
  'another key without kid': (good) => forge({ alg: 'EdDSA' }, claimsOf(good)),
  'its own key in jwk': (good) => forge({ alg: 'EdDSA', jwk: publicJwk }, claimsOf(good)),
  'its own keys at jku': (good) => forge({ alg: 'EdDSA', kid: 'x', jku: `${gateway.url}/keys` }, claimsOf(good)),
  'its own certificate at x5u': (good) => forge({ alg: 'EdDSA', kid: 'x', x5u: `${gateway.url}/cert` }, claimsOf(good)),
  'a kid that is a path': (good) => forge({ alg: 'EdDSA', kid: '../../../../dev/null' }, claimsOf(good)),
  'a kid that is SQL': (good) => forge({ alg: 'EdDSA', kid: "' or '1'='1" }, claimsOf(good)),
  'an unknown critical header': (good) => forge({ ...headerOf(good), crit: ['exp'], exp: 1 }, claimsOf(good)),
  'other claims under its signature': (good) =>
    [good.split('.')[0], encode({ ...claimsOf(good), sub: other.userId }), good.split('.')[2]].join('.'),
  'no signature': (good) => good.split('.').slice(0, 2).join('.'),
  'an empty signature': (good) => `${good.split('.').slice(0, 2).join('.')}.`,
  'a signature with one bit changed': (good) =>
    good.replace(/.(.{5})$/, (_, rest: string) => `${good.at(-6) === 'A' ? 'B' : 'A'}${rest}`),
  '100 KB': (good) => `${good.split('.')[0]}.${encode(randomBytes(75_000).toString('base64'))}.${good.split('.')[2]}`,
  'the token of a verification mail': () => mailTokens.verify,
  'the token of a reset mail': () => mailTokens.reset,
}

async function statusWith(authorization: string | undefined): Promise<{ status: number; body: unknown }> {
  const client = api(gateway, undefined, authorization === undefined ? {} : { authorization })
  const { status, body } = await client.get('/api/instances')
  return { status, body }
}

const refusal = { status: 401, body: { error: { code: 'UNAUTHORIZED', message: 'Missing or invalid token' } } }

describe('an access token', () => {
  it('is accepted when valid, and its key is published', async () => {
    expect(await statusWith(`Bearer ${person.token}`)).toMatchObject({ status: 200 })
    const jwks = (await api(gateway).get('/api/auth/jwks')).body
    const { kid } = headerOf(person.token)
    // Two concurrent first sign-ins create one key each.
    for (const key of jwks.keys)
      expect(key).toStrictEqual({ alg: 'EdDSA', crv: 'Ed25519', kty: 'OKP', x: expect.any(String), kid: uuid })
    expect(jwks.keys.map((key: { kid: string }) => key.kid)).toContain(kid)
  })

  it.each(Object.keys(forgeries))('is refused: %s', async (name) => {
    const token = (forgeries[name] as (good: string) => string)(person.token)
    expect(token).not.toBe(person.token)
    if (token.length > 16_384) {
      // The header exceeds the limit for all headers, so the request is refused before routing.
      const headers = { authorization: `Bearer ${token}` }
      expect((await fetch(new URL('/api/instances', gateway.url), { headers })).status).toBe(431)
      return
    }
    expect(await statusWith(`Bearer ${token}`)).toMatchObject(refusal)
    const graph = await api(gateway, undefined, { authorization: `Bearer ${token}` }).graphql('{ instances { id } }')
    expect(graph.status).toBe(401)
    expect(JSON.stringify(graph.body)).toContain('"UNAUTHORIZED"')
  })

  it('is refused with a wrong issuer, audience, time, subject or session, even when our key signed it', async () => {
    const { iss, aud, exp, iat, ...rest } = claimsOf(person.token)
    const wrong = [
      { ...rest, iat, exp, iss: 'http://evil.example', aud },
      { ...rest, iat, exp, iss, aud: 'other' },
      { ...rest, iat, exp: iat - 1, iss, aud },
      { ...rest, iat, iss, aud },
      { ...rest, iat, exp, iss, aud, nbf: exp },
      { ...rest, sid: undefined, iat, exp, iss, aud },
      { ...rest, sub: undefined, iat, exp, iss, aud },
      { ...rest, sid: "' or true --", iat, exp, iss, aud },
      // A session of another person.
      { ...rest, sid: claimsOf(other.token).sid, iat, exp, iss, aud },
    ]
    const key = await ownKeyIn()
    const signed = (claims: object) => forge({ alg: 'EdDSA', kid: key }, claims)
    // Keys created by another process are looked up at most once a second.
    await until(async () => (await statusWith(`Bearer ${signed({ ...rest, iat, exp, iss, aud })}`)).status === 200)
    for (const claims of wrong) expect(await statusWith(`Bearer ${signed(claims)}`), JSON.stringify(claims)).toEqual(refusal)
  })

  it('is refused when signed by HS256 with any form of our public key', async () => {
    const { keys } = (await api(gateway).get('/api/auth/jwks')).body
    const [jwk] = keys
    const forms = [jwk.x, Buffer.from(jwk.x, 'base64url'), JSON.stringify(jwk), JSON.stringify({ keys })]
    for (const form of forms) {
      const token = hmac({ alg: 'HS256', kid: jwk.kid }, claimsOf(person.token), form)
      expect(await statusWith(`Bearer ${token}`)).toEqual(refusal)
    }
  })

  it('is accepted only from an Authorization header with the Bearer scheme', async () => {
    for (const authorization of [
      undefined,
      person.token,
      `Basic ${person.token}`,
      `Bearer  ${person.token}`,
      `Bearer ${person.token}, x`,
    ]) {
      expect(await statusWith(authorization)).toEqual(refusal)
    }
    const client = api(gateway, undefined, { 'x-api-key': person.token })
    expect(await client.get('/api/instances')).toMatchObject(refusal)
    expect(await api(gateway).get(`/api/instances?access_token=${person.token}`)).toMatchObject(refusal)
    // Each surface accepts only its own credential.
    expect(await api(gateway, person.apiKey).get('/api/instances')).toMatchObject(refusal)
    expect(await person.api.get('/api/v1/instances')).toMatchObject({ status: 401 })
  })
})

/** Stores the attacker's public key as one of ours, so that only the claims are wrong. */
async function ownKeyIn(): Promise<string> {
  const { rows } = await sql(databaseUrl).query<{ id: string }>(
    `insert into auth_jwks (id, "publicKey", "privateKey", alg, crv, "createdAt") values (gen_random_uuid(), $1, '', 'EdDSA', 'Ed25519', now() - interval '1 day') returning id`,
    [JSON.stringify(publicJwk)],
  )
  return rows[0]?.id as string
}

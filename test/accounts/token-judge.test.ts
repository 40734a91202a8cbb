// Access tokens are accepted only when signed by a key that is currently in the table, and lookups of unknown keys are bounded.
import { randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTokenJudge } from '../../src/accounts/sign-in/access-token.ts'
import { createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { newPerson, type Person } from './person.ts'

const issuer = 'https://gateway.example.com'

/** A key pair, and a function that makes tokens signed with it. */
async function makeKey(kid: string = randomUUID()): Promise<{ jwk: JWK; token: () => Promise<string> }> {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519' })
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'EdDSA' }
  const signed = () => new SignJWT({ sid: randomUUID() }).setProtectedHeader({ alg: 'EdDSA', kid }).setSubject(randomUUID())
  return {
    jwk,
    token: () => signed().setIssuer(issuer).setAudience('console').setIssuedAt().setExpirationTime('5m').sign(privateKey),
  }
}

describe('signing keys', () => {
  function openJudge(published: JWK[], keptMs?: number) {
    const table = { published, readings: 0 }
    async function getJwks() {
      table.readings++
      return { keys: [...table.published] }
    }
    const judge = createTokenJudge(
      { config: { publicUrl: issuer } } as never,
      async () => ({ api: { getJwks } }) as never,
      keptMs,
    )
    return { table, judge }
  }

  it('are read once for any number of concurrent tokens of unknown keys', async () => {
    const [ours, other] = [await makeKey(), await makeKey()]
    const { table, judge } = openJudge([ours.jwk])
    expect(await judge(await ours.token())).not.toBeNull()
    const strangers = await Promise.all(Array.from({ length: 50 }, other.token))
    // Unknown keys are looked up at most once a second.
    await until(async () => {
      await Promise.all(strangers.map(judge))
      return table.readings > 1
    })
    expect(table.readings).toBe(2)
    expect(await Promise.all(strangers.map(judge))).toEqual(Array(50).fill(null))
  })

  it('are refused soon after their removal from the table', async () => {
    const [ours, next] = [await makeKey(), await makeKey()]
    const { table, judge } = openJudge([ours.jwk], 100)
    expect(await judge(await ours.token())).not.toBeNull()
    table.published = [next.jwk]
    await until(async () => (await judge(await ours.token())) === null)
    expect(await judge(await next.token())).not.toBeNull()
  })
})

describe('another gateway', () => {
  let here: { databaseUrl: string; gateway: OpenGateway; person: Person }
  let there: typeof here

  beforeAll(async () => {
    // Both gateways have the same public URL, and share nothing else but the SECRET_KEY of the tests.
    const start = async () => {
      const databaseUrl = await cloneDatabase()
      const gateway = await openGateway({ databaseUrl, env: { PUBLIC_URL: issuer } })
      return { databaseUrl, gateway, person: await newPerson(gateway, databaseUrl) }
    }
    ;[here, there] = await Promise.all([start(), start()])
  })

  it('issues tokens, cookies and keys that are refused here', async () => {
    const { person } = there
    expect((await person.api.get('/api/instances')).status).toBe(200)
    const stranger = (headers: Record<string, string>) => api(here.gateway, undefined, headers)
    const bearer = { authorization: `Bearer ${person.token}` }
    expect((await stranger(bearer).get('/api/instances')).status).toBe(401)
    expect((await stranger(bearer).graphql('{ me { id } }')).status).toBe(401)
    expect((await stranger({ cookie: person.cookie }).post('/api/auth/token')).status).toBe(401)
    const { apiKey } = await createAccount(there.databaseUrl)
    expect((await stranger({ 'x-api-key': apiKey }).get('me')).status).toBe(401)
    expect((await stranger({ 'x-api-key': apiKey }).graphql('{ me { id } }')).status).toBe(401)
  })

  it('cannot forge tokens with its own key under one of our key ids', async () => {
    const { keys } = (await api(here.gateway).get('/api/auth/jwks')).body
    for (const { kid } of keys) {
      const forged = await (await makeKey(kid)).token()
      expect((await api(here.gateway, undefined, { authorization: `Bearer ${forged}` }).get('/api/instances')).status).toBe(401)
    }
  })
})

// Access tokens: short-lived JWTs that name a session. A token alone is not enough: who checks it asks for the session too.
import { createLocalJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { App } from '../../core/app.ts'
import { isId } from '../../core/id.ts'
import type { Auth } from './auth.ts'
import { tokenAudience } from './token-form.ts'

export interface TokenClaims {
  userId: string
  sessionId: string
}

/** Longer ones are none of ours. */
const maxLength = 2_048
/** Keys that nobody knows are looked for no more often. */
const reloadMs = 1_000
/** A key that an operator takes out of the table signs nothing for longer than this. */
const usualKeptMs = 60_000

interface Keys {
  find: JWTVerifyGetKey
  loadedAt: number
}

/**
 * Makes the judge of tokens: what a good one claims, null for any other. The keys come from our table alone, and are read
 * again after `keptMs`.
 */
export function createTokenJudge(
  app: Pick<App, 'config'>,
  auth: () => Promise<{ api: Pick<Auth['api'], 'getJwks'> }>,
  keptMs = usualKeptMs,
): (token: string) => Promise<TokenClaims | null> {
  let keys: Keys | undefined
  let loading: Promise<Keys> | undefined

  /** One reading for all who ask meanwhile. */
  function loadKeys(): Promise<Keys> {
    loading ??= readKeys().finally(() => {
      loading = undefined
    })
    return loading
  }

  async function readKeys(): Promise<Keys> {
    const { keys: list } = await (await auth()).api.getJwks()
    keys = { find: createLocalJWKSet({ keys: list }), loadedAt: performance.now() }
    return keys
  }

  async function verify(token: string, find: JWTVerifyGetKey) {
    return await jwtVerify(token, find, {
      issuer: app.config.publicUrl ?? '',
      audience: tokenAudience,
      algorithms: ['EdDSA'],
      requiredClaims: ['sub', 'sid', 'exp', 'iat'],
    })
  }

  async function verifyWithNewest(token: string) {
    const known = keys && performance.now() - keys.loadedAt < keptMs ? keys : await loadKeys()
    try {
      return await verify(token, known.find)
    } catch (error) {
      // Another process may have made a key since.
      const isNew = error instanceof errors.JWKSNoMatchingKey && performance.now() - known.loadedAt > reloadMs
      if (!isNew) throw error
      return await verify(token, (await loadKeys()).find)
    }
  }

  return async (token) => {
    if (token.length > maxLength) return null
    try {
      const { sub, sid } = (await verifyWithNewest(token)).payload
      return isId(sub) && isId(sid) ? { userId: sub, sessionId: sid } : null
    } catch (error) {
      // Whatever is wrong with it, nobody is told what; but a database that does not answer is no fault of the token.
      if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof SyntaxError) return null
      throw error
    }
  }
}

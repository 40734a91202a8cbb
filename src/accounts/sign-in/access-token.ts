// Verifies access tokens: short-lived JWTs that name a session. A token alone is not enough: callers also check that the session exists.
import type { JWTVerifyGetKey } from 'jose'
import type { App } from '../../core/app.ts'
import { isId } from '../../core/id.ts'
import type { Auth } from './auth.ts'
import { tokenAudience } from './token-form.ts'

export interface TokenClaims {
  userId: string
  sessionId: string
}

/** Maximum length of a token in characters. The gateway issues none that is longer. */
const maxLength = 2_048
/** Minimum time between two loads of the keys that are caused by unknown key ids. */
const reloadMs = 1_000
/** Cache time of the keys. Tokens of a key that an operator deletes from the table are accepted for no longer than this. */
const usualKeptMs = 60_000

/** Loads jose with the first token, so that processes without sign-ins never load it. */
let loaded: Promise<typeof import('jose')> | undefined
function jose(): Promise<typeof import('jose')> {
  loaded ??= import('jose')
  return loaded
}

interface Keys {
  find: JWTVerifyGetKey
  loadedAt: number
}

/**
 * Returns a function that verifies a token: it returns the claims of a valid token, and null for any other. The keys come from our own
 * table only, and are reloaded after `keptMs`.
 */
export function createTokenJudge(
  app: Pick<App, 'config'>,
  auth: () => Promise<{ api: Pick<Auth['api'], 'getJwks'> }>,
  keptMs = usualKeptMs,
): (token: string) => Promise<TokenClaims | null> {
  let keys: Keys | undefined
  let loading: Promise<Keys> | undefined

  /** Deduplicates concurrent loads: all callers share one query. */
  function loadKeys(): Promise<Keys> {
    loading ??= readKeys().finally(() => {
      loading = undefined
    })
    return loading
  }

  async function readKeys(): Promise<Keys> {
    const { createLocalJWKSet } = await jose()
    const { keys: list } = await (await auth()).api.getJwks()
    keys = { find: createLocalJWKSet({ keys: list }), loadedAt: performance.now() }
    return keys
  }

  async function verify(token: string, find: JWTVerifyGetKey) {
    const { jwtVerify } = await jose()
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
      const { errors } = await jose()
      // Another process may have created a key since the last load.
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
      const { errors } = await jose()
      // An invalid token gives null, without a reason. Any other error, such as a database failure, is not the token's fault.
      if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof SyntaxError) return null
      throw error
    }
  }
}

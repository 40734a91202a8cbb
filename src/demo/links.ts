// Gives the demo key to a page. The page does not contain it: a one-time link token or the access token of its owner fetches it.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { callerOf } from '../accounts/sign-in/auth-call.ts'
import type { App } from '../core/app.ts'
import { fail } from '../core/errors.ts'
import { demoKey } from './demo.ts'

/** Lifetime of a link. */
export const linkLifeMs = 10 * 60_000

/** The request header in which a page sends the token of its link. */
export const linkHeader = 'x-link-token'

export interface Links {
  /** Returns a new one-time token, valid for {@link linkLifeMs}. */
  make: () => string
  /** Returns whether the token was issued, is unused and has not expired. Uses it up. */
  use: (token: string) => boolean
}

/** `now` returns milliseconds of a monotonic clock. */
export function createLinks(now: () => number = () => performance.now()): Links {
  let open: { hash: Buffer; until: number }[] = []
  return {
    make() {
      const token = randomBytes(32).toString('base64url')
      open.push({ hash: hashOf(token), until: now() + linkLifeMs })
      return token
    },
    use(token) {
      const given = hashOf(token)
      open = open.filter(({ until }) => until > now())
      const before = open.length
      open = open.filter(({ hash }) => !timingSafeEqual(hash, given))
      return open.length < before
    },
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** Returns whether pages may get the demo key at all. */
export function handsOutDemoKey({ config }: App): boolean {
  return config.demo && !config.production
}

/**
 * Registers `POST /docs/key`, which returns the demo key to a page of the gateway itself. The page authenticates with the token of a link
 * in {@link linkHeader}, or with the access token of the key's owner. Errors: FORBIDDEN, INVALID_TOKEN, UNAUTHORIZED, NOT_FOUND.
 */
export function mountDemoKey(http: FastifyInstance, app: App, links: Links): void {
  http.post('/docs/key', { bodyLimit: 1 }, async (request, reply) => {
    reply.header('Cache-Control', 'no-store')
    if (!handsOutDemoKey(app)) fail('NOT_FOUND')
    refuseOthersPages(app, request)
    const token = request.headers[linkHeader]
    if (token === undefined) return { data: { key: await keyOfCaller(app, request) } }
    if (!links.use(String(token))) fail('INVALID_TOKEN', 'This link was already used or has expired')
    return { data: { key: (await demoKey(app)) ?? fail('NOT_FOUND', 'The key of the demo account was revoked') } }
  })
}

/**
 * Browsers send `Origin` with every POST; a request without one is from no page.
 * @throws FORBIDDEN when the origin is not the gateway's.
 */
function refuseOthersPages({ config: { publicUrl } }: App, { headers: { origin } }: FastifyRequest): void {
  if (!publicUrl || origin !== new URL(publicUrl).origin)
    fail('FORBIDDEN', 'Only pages of the gateway itself may request the key')
}

async function keyOfCaller(app: App, request: FastifyRequest): Promise<string> {
  const { userId } = await callerOf(app, request)
  return (await demoKey(app, userId)) ?? fail('NOT_FOUND', 'A key is shown only once, when it is created; paste one of yours')
}

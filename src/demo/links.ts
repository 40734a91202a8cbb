// The way of the demo's key into a page: not in the page itself, but handed over once to whoever shows that it is theirs.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { callerOf } from '../accounts/sign-in/auth-call.ts'
import type { App } from '../core/app.ts'
import { fail } from '../core/errors.ts'
import { demoKey } from './demo.ts'

/** How long a link is good. */
export const linkLifeMs = 10 * 60_000

/** The header that a page shows the token of its link in. */
export const linkHeader = 'x-link-token'

export interface Links {
  /** A new token, for one use within {@link linkLifeMs}. */
  make: () => string
  /** Whether it is a token that was made, not used and not too old; used from then on. */
  use: (token: string) => boolean
}

/** `now` is in milliseconds, from a clock that nobody sets. */
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

/** Whether pages may be given the demo's key at all. */
export function handsOutDemoKey({ config }: App): boolean {
  return config.demo && !config.production
}

/**
 * Registers `POST /docs/key`, which answers the demo's key, to a page of the gateway's own, for a link's token in {@link linkHeader} or for the
 * access token of the person whose key it is. Errors: FORBIDDEN, INVALID_TOKEN, UNAUTHORIZED, NOT_FOUND.
 */
export function mountDemoKey(http: FastifyInstance, app: App, links: Links): void {
  http.post('/docs/key', { bodyLimit: 1 }, async (request, reply) => {
    reply.header('Cache-Control', 'no-store')
    if (!handsOutDemoKey(app)) fail('NOT_FOUND')
    refuseOthersPages(app, request)
    const token = request.headers[linkHeader]
    if (token === undefined) return { data: { key: await keyOfCaller(app, request) } }
    if (!links.use(String(token))) fail('INVALID_TOKEN', 'This link was used already, or is too old')
    return { data: { key: (await demoKey(app)) ?? fail('NOT_FOUND', 'The key of the demo was revoked') } }
  })
}

/** Browsers always name the origin of a page that sends a POST; whoever names none is no page. @throws FORBIDDEN. */
function refuseOthersPages({ config: { publicUrl } }: App, { headers: { origin } }: FastifyRequest): void {
  if (!publicUrl || origin !== new URL(publicUrl).origin)
    fail('FORBIDDEN', 'Only pages of the gateway itself may ask for the key')
}

async function keyOfCaller(app: App, request: FastifyRequest): Promise<string> {
  const { userId } = await callerOf(app, request)
  return (await demoKey(app, userId)) ?? fail('NOT_FOUND', 'Your keys were shown when they were made; paste one')
}

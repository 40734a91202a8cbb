// Devices that signed in before: an encrypted cookie identifies them, so that guesses by anonymous clients do not lock their owners out.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import { newId } from '../../core/id.ts'

const lastsSeconds = 365 * 86_400

/** Maximum number of accounts that one device is known for. The most recent logins are kept. */
const most = 5

/** Encrypted data of other kinds has another prefix. */
const prefix = 'device\n'

/** Address, id of the device for that address alone, and time of its last login (ms since 1970). */
const entries = z.array(z.tuple([z.string(), z.string(), z.number()])).max(most)
type Entry = z.output<typeof entries>[number]

function nameIn({ config }: App): string {
  return config.publicUrl?.startsWith('https:') ? '__Secure-gateway.device' : 'gateway.device'
}

/** Returns the id of this device for the account of that address; null if it never signed in to it, or not within a year. */
export function deviceOf(app: App, request: FastifyRequest, email: string): string | null {
  return entriesOf(app, request).find(([address]) => address === email)?.[1] ?? null
}

/**
 * Marks the device as known for the account with a cookie: `HttpOnly`, `SameSite=Lax`, valid for a year, encrypted with SECRET_KEY. The
 * cookie only proves a successful login on this device, and outlives the session.
 */
export function rememberDevice(app: App, request: FastifyRequest, reply: FastifyReply, email: string): void {
  const known = entriesOf(app, request)
  const id = known.find(([address]) => address === email)?.[1] ?? newId()
  const others = known.filter(([address]) => address !== email)
  const next: Entry[] = [[email, id, Date.now()], ...others].slice(0, most) as Entry[]
  const value = app.sealer.seal(prefix + JSON.stringify(next)).toString('base64url')
  const secure = nameIn(app).startsWith('__Secure-') ? '; Secure' : ''
  reply.header('set-cookie', `${nameIn(app)}=${value}; Max-Age=${lastsSeconds}; Path=/; HttpOnly; SameSite=Lax${secure}`)
}

function entriesOf(app: App, { headers: { cookie = '' } }: FastifyRequest): Entry[] {
  const begin = `${nameIn(app)}=`
  const value = cookie
    .split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(begin))
    ?.slice(begin.length)
  const opened = value && app.sealer.tryOpen(Buffer.from(value, 'base64url'))?.toString()
  if (!opened?.startsWith(prefix)) return []
  const since = Date.now() - lastsSeconds * 1_000
  return entries.parse(JSON.parse(opened.slice(prefix.length))).filter(([, , at]) => at > since)
}

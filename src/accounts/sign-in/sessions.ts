// Lists and ends the sessions of the person who is signed in.
import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import { fail } from '../../core/errors.ts'
import { parse, uuid } from '../../core/validation.ts'
import { callerOf } from './auth-call.ts'

export interface ListedSession {
  id: string
  /** True for the session of this request. */
  current: boolean
  ipAddress: string | null
  userAgent: string | null
  createdAt: Date
  expiresAt: Date
}

export const sessionPath = z.object({ id: uuid.describe("The session's id.") })

/** Returns the person's sessions, newest first. @throws UNAUTHORIZED when the token is invalid. */
export async function listSessions(app: App, request: FastifyRequest): Promise<ListedSession[]> {
  const { userId, sessionId } = await callerOf(app, request)
  const rows = await app.db.authSession.findMany({
    where: { userId, expiresAt: { gt: new Date() } },
    select: { id: true, ipAddress: true, userAgent: true, createdAt: true, expiresAt: true },
    orderBy: { id: 'desc' },
  })
  return rows.map(({ id, ipAddress, userAgent, ...times }) => ({
    id,
    current: id === sessionId,
    ipAddress: ipAddress ? shorten(ipAddress) : null,
    userAgent: userAgent || null,
    ...times,
  }))
}

/** Formats an IP address without the zeros that it is stored with. */
function shorten(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.parse(address).toString() : address
}

/**
 * Ends one of the person's sessions; its tokens stop working at once.
 * @throws NOT_FOUND when the person has no such session; UNAUTHORIZED when the token is invalid.
 */
export async function endSession(app: App, request: FastifyRequest): Promise<{ id: string; deleted: true }> {
  const { userId } = await callerOf(app, request)
  const { id } = parse(sessionPath, request.params)
  const { count } = await app.db.authSession.deleteMany({ where: { id, userId } })
  if (count === 0) fail('NOT_FOUND', 'Session not found')
  return { id, deleted: true }
}

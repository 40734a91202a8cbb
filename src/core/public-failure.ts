// What a caller may be told of anything thrown, and what the database's own errors mean to one.
import { codeOf, type ErrorCode, errors } from './errors.ts'

const lostConnection = /^(08|57P0[1-5]$|53300$|55P03$|57014$)/
const lostSocket = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOENT'])

/** Whether an error says that the database is out of reach or shutting down, so that a retry may succeed. */
export function isUnavailable(error: unknown): boolean {
  for (let e = error as Record<string, unknown> | undefined, i = 0; e && i < 5; e = e.cause as typeof e, i++) {
    const code = typeof e.code === 'string' ? e.code : ''
    if (lostConnection.test(code) || lostSocket.has(code) || code === 'P1001' || code === 'P1017' || code === 'P2024') return true
    const message = typeof e.message === 'string' ? e.message : ''
    if (/Connection terminated|connection timeout|timeout exceeded when trying to connect|Can't reach database/i.test(message))
      return true
    if (typeof e.originalError === 'object' && isUnavailable(e.originalError)) return true
  }
  return false
}

/** Data that Postgres cannot store (SQLSTATE class 22), which the edge should have refused: the caller's fault. */
function isBadData(error: unknown): boolean {
  const e = error as { code?: unknown; originalError?: unknown } | null
  return (typeof e?.code === 'string' && /^22/.test(e.code)) || (e?.originalError != null && isBadData(e.originalError))
}

/** What a caller may be told of anything thrown: our own failures as they are, everything else without detail. */
export function publicFailure(error: unknown): { code: ErrorCode; message: string } {
  const code = codeOf(error)
  if (code) return { code, message: (error as Error).message }
  if (isUnavailable(error)) return { code: 'SERVICE_UNAVAILABLE', message: errors.SERVICE_UNAVAILABLE.message }
  if (isBadData(error)) return { code: 'VALIDATION_ERROR', message: errors.VALIDATION_ERROR.message }
  return { code: 'INTERNAL_ERROR', message: errors.INTERNAL_ERROR.message }
}

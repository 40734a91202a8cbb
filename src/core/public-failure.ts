// What a caller may be told of anything thrown, and what the database's own errors mean to one.
import { codeOf, type ErrorCode, errors } from './errors.ts'

/** SQLSTATEs of a connection that is refused or ended, and of waits that became too long: they go away by themselves. */
const passingState = /^(08...|25P03|57P0[1-5]|53300|55P03|57014)$/
/** The same from the socket, and in Prisma's own numbers. */
const passingCode = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'P1001',
  'P1008',
  'P1017',
  'P2024',
  'P2037',
])
/** What pg says without a code; "not queryable" is the connection that was lost between two statements. */
const passingMessage =
  /Connection terminated|is not queryable|connection timeout|timeout exceeded when trying to connect|Can't reach database/i

interface Chained {
  code?: unknown
  /** The SQLSTATE, of an error that Prisma's adapter has made its own. */
  originalCode?: unknown
  message?: unknown
  cause?: unknown
  originalError?: unknown
  meta?: { driverAdapterError?: unknown }
}

/** Whether an error says that the database is out of reach or shutting down, so that a retry may succeed. */
export function isUnavailable(error: unknown): boolean {
  return inChain(
    error,
    ({ code, originalCode, message }) =>
      [code, originalCode].some((each) => typeof each === 'string' && (passingState.test(each) || passingCode.has(each))) ||
      (typeof message === 'string' && passingMessage.test(message)),
  )
}

/** Data that Postgres cannot store (SQLSTATE class 22), which the edge should have refused: the caller's fault. */
function isBadData(error: unknown): boolean {
  return inChain(error, ({ code, originalCode }) =>
    [code, originalCode].some((each) => typeof each === 'string' && /^22/.test(each)),
  )
}

/** Whether `test` holds for an error or for one of those that it was made of. */
function inChain(error: unknown, test: (link: Chained) => boolean, depth = 5): boolean {
  if (typeof error !== 'object' || error === null || depth === 0) return false
  const link = error as Chained
  return (
    test(link) || [link.cause, link.originalError, link.meta?.driverAdapterError].some((each) => inChain(each, test, depth - 1))
  )
}

/** What a caller may be told of anything thrown: our own failures as they are, everything else without detail. */
export function publicFailure(error: unknown): { code: ErrorCode; message: string } {
  const code = codeOf(error)
  if (code) return { code, message: (error as Error).message }
  if (isUnavailable(error)) return { code: 'SERVICE_UNAVAILABLE', message: errors.SERVICE_UNAVAILABLE.message }
  if (isBadData(error)) return { code: 'VALIDATION_ERROR', message: errors.VALIDATION_ERROR.message }
  return { code: 'INTERNAL_ERROR', message: errors.INTERNAL_ERROR.message }
}

// What a caller may be told of anything thrown, and what the database's own errors mean to one.
import { codeOf, type ErrorCode, errors } from './errors.ts'

/**
 * SQLSTATEs of a connection that is refused or ended, of waits that became too long, of a server that is full or for reading
 * only: they go away by themselves, or by an operator's hand.
 */
const passingState = /^(08...|25006|25P03|57P0[1-5]|53...|55P03|57014)$/
/** The same from the socket, and in Prisma's own numbers. */
const passingCode = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'ENOSPC',
  'P1001',
  'P1008',
  'P1017',
  'P2024',
  'P2037',
])
/** What pg says without a code; "not queryable" is the connection that was lost between two statements. */
const passingMessage =
  /Connection terminated|is not queryable|connection timeout|timeout exceeded when trying to connect|Can't reach database/i

/** An error, or what it was made of. */
interface Link {
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
  const links = chainOf(error)
  return (
    links.flatMap(codesOf).some((code) => passingState.test(code) || passingCode.has(code)) ||
    links.some(({ message }) => typeof message === 'string' && passingMessage.test(message))
  )
}

/** Data that Postgres cannot store (SQLSTATE class 22), which the edge should have refused: the caller's fault. */
function isBadData(error: unknown): boolean {
  return chainOf(error)
    .flatMap(codesOf)
    .some((code) => code.startsWith('22'))
}

/** The error and those that it was made of, as deep as any library wraps them. */
function chainOf(error: unknown, depth = 5): Link[] {
  if (typeof error !== 'object' || error === null || depth === 0) return []
  const link = error as Link
  const { cause, originalError, meta } = link
  return [link, ...[cause, originalError, meta?.driverAdapterError].flatMap((each) => chainOf(each, depth - 1))]
}

function codesOf({ code, originalCode }: Link): string[] {
  return [code, originalCode].filter((each) => typeof each === 'string')
}

/** What a caller may be told of anything thrown: our own failures as they are, everything else without detail. */
export function publicFailure(error: unknown): { code: ErrorCode; message: string } {
  const code = codeOf(error)
  if (code) return { code, message: (error as Error).message }
  if (isUnavailable(error)) return { code: 'SERVICE_UNAVAILABLE', message: errors.SERVICE_UNAVAILABLE.message }
  if (isBadData(error)) return { code: 'VALIDATION_ERROR', message: errors.VALIDATION_ERROR.message }
  return { code: 'INTERNAL_ERROR', message: errors.INTERNAL_ERROR.message }
}

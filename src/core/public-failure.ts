// Translates anything thrown into a code and message for the caller, and classifies errors of the database.
import { DatabaseError } from 'pg'
import { codeOf, type ErrorCode, errors } from './errors.ts'

/**
 * SQLSTATEs of temporary failures: the connection is refused or ended, a wait took too long, the server is full or read-only.
 * They end by themselves or through an operator.
 */
const passingState = /^(08...|25006|25P0[34]|57P0[1-5]|53...|55P03|57014)$/
/** The same for sockets, and Prisma's own codes. */
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
  'P2028',
  'P2037',
])
/** Messages of pg errors without a code; "not queryable" means that the connection was lost between two statements. */
const passingMessage =
  /Connection terminated|is not queryable|connection timeout|timeout exceeded when trying to connect|Can't reach database/i

/** A service that the gateway depends on does not serve for now, so that a retry may succeed. */
export class ServiceAway extends Error {}

/** An error, or one of its causes. */
interface Link {
  code?: unknown
  /** SQLSTATE of an error that Prisma's adapter has wrapped. */
  originalCode?: unknown
  message?: unknown
  cause?: unknown
  originalError?: unknown
  meta?: { driverAdapterError?: unknown }
}

/** True if an error says that the database, or another service, is unreachable or shutting down, so that a retry may succeed. */
export function isUnavailable(error: unknown): boolean {
  const links = chainOf(error)
  return (
    error instanceof ServiceAway ||
    links.flatMap(codesOf).some((code) => passingState.test(code) || passingCode.has(code)) ||
    links.some(({ message }) => typeof message === 'string' && passingMessage.test(message))
  )
}

/** True if PostgreSQL refused a statement, so that nothing of its transaction is stored. False if the answer to a commit may be lost. */
export function isRefusedByDatabase(error: unknown): boolean {
  return !isUnavailable(error) && chainOf(error).some((link) => link instanceof DatabaseError)
}

/** True if PostgreSQL cannot store the data (SQLSTATE class 22). That is the caller's fault; input validation should have refused it. */
function isBadData(error: unknown): boolean {
  return chainOf(error)
    .flatMap(codesOf)
    .some((code) => code.startsWith('22'))
}

/** True if an insert or update failed because a unique value is taken. */
export function isTaken(error: unknown): boolean {
  return chainOf(error).flatMap(codesOf).includes('23505') || (error as { code?: string }).code === 'P2002'
}

/** True if a delete failed because the row is the target of a foreign key: 23503 up to PostgreSQL 17, 23001 since. */
export function isReferred(error: unknown): boolean {
  return chainOf(error)
    .flatMap(codesOf)
    .some((code) => code === '23503' || code === '23001' || code === 'P2003')
}

/** True if a row was refused because its workspace is gone, whose account has ended since the caller was admitted. */
export function lacksWorkspace(error: unknown): boolean {
  return (
    isReferred(error) &&
    chainOf(error).some(({ message }) => typeof message === 'string' && message.includes('_workspaceId_fkey'))
  )
}

/** True if a statement exceeded its time limit (query_canceled). */
export function isTooSlow(error: unknown): boolean {
  return chainOf(error).flatMap(codesOf).includes('57014')
}

/** True if a transaction failed by a deadlock or by a serialization failure, so that it may be run again at once. */
export function isConflict(error: unknown): boolean {
  return chainOf(error)
    .flatMap(codesOf)
    .some((code) => code === '40001' || code === '40P01' || code === 'P2034')
}

/** The error and its causes, up to `depth` levels, which is deeper than any library wraps them. */
function chainOf(error: unknown, depth = 5): Link[] {
  if (typeof error !== 'object' || error === null || depth === 0) return []
  const link = error as Link
  const { cause, originalError, meta } = link
  return [link, ...[cause, originalError, meta?.driverAdapterError].flatMap((each) => chainOf(each, depth - 1))]
}

function codesOf({ code, originalCode }: Link): string[] {
  return [code, originalCode].filter((each) => typeof each === 'string')
}

/** Returns what a caller may learn of anything thrown: the gateway's own failures as they are, everything else without details. */
export function publicFailure(error: unknown): { code: ErrorCode; message: string } {
  const code = codeOf(error)
  if (code) return { code, message: (error as Error).message }
  if (isUnavailable(error)) return { code: 'SERVICE_UNAVAILABLE', message: errors.SERVICE_UNAVAILABLE.message }
  if (isBadData(error)) return { code: 'VALIDATION_ERROR', message: errors.VALIDATION_ERROR.message }
  return { code: 'INTERNAL_ERROR', message: errors.INTERNAL_ERROR.message }
}

// Plain-language errors for operators when something does not start: one sentence, never a stack trace.
import { codeOf } from './errors.ts'
import { oneLine } from './one-line.ts'

interface SystemError extends Error {
  code?: string
  syscall?: string
  address?: string
  port?: number
  path?: string
  /** The variable that sets the port on which a server could not listen. */
  variable?: string
  /** Set on an AggregateError: one error for each address that was tried. */
  errors?: unknown[]
}

/**
 * Describes anything thrown in words, without terminal control characters, because servers word their own errors. Configuration
 * faults stay one line each.
 */
export function sentenceOf(error: unknown): string {
  return wordsOf(error).split('\n').map(oneLine).join('\n')
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const e = error as SystemError
  if (codeOf(e)) return oneLine(e.message)
  const nameless = e.message.match(/could not look up effective user ID (\d+)/)?.[1]
  if (nameless)
    return `PostgreSQL creates its files only for a user with a name, and user ${nameless} has none; add it to /etc/passwd for the first start, start as another user, or set DATABASE_URL`
  const denied = e.message.match(/permission denied for (?:database|schema) \S+/)?.[0]
  if (denied)
    return `The user of DATABASE_URL may not create what the gateway needs (${denied}); make it the owner of the database`
  if (e.code === '42501')
    return `The user of DATABASE_URL may not do what the gateway needs (${e.message}); make it the owner of the database and its tables`
  // Messages of pg without a code, for a server that is not PostgreSQL or has no TLS.
  if (/^(Connection terminated|timeout exceeded|The server does not support SSL)/.test(e.message))
    return `The database of DATABASE_URL cannot be used (${e.message}); check DATABASE_URL`
  if (/^unsupported startup parameter/.test(e.message))
    return `A pooler in front of the database refuses the settings of a connection (${e.message}); set DATABASE_DIRECT_URL to the same database without the pooler`
  if (e.code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `The certificate of the database is for another host (${e.message}); write a host that it names in DATABASE_URL`
  if (/CERT|LEAF_SIGNATURE/.test(e.code ?? ''))
    return `The certificate of the database is not trusted (${e.message}); set the file of its authority in DATABASE_URL (sslrootcert=FILE)`
  if (/no encryption/.test(e.message))
    return `The database requires encrypted connections (${e.message}); add sslmode=verify-full to DATABASE_URL`
  // Servers word their refusals in the language of lc_messages, and name this file in every one.
  if (e.code === '28000' && e.message.includes('pg_hba.conf'))
    return `The pg_hba.conf of the database refuses this connection (${e.message}); allow it there, or add sslmode=verify-full to DATABASE_URL if only encrypted connections are allowed`
  return wordsOfCode(e)
}

function wordsOfCode(e: SystemError): string {
  const place = e.address && e.port ? `${e.address}:${e.port}` : 'its address'
  switch (e.code) {
    case 'EADDRINUSE':
      return `${place} is already in use; stop the other program or set ${e.variable ?? 'PORT'} (0 selects a free port)`
    case 'EADDRNOTAVAIL':
      return `${place} is not an address of this machine; set HOST`
    case 'ECONNREFUSED':
    case 'ECONNRESET':
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
      return `The database at ${placeOf(e)} does not answer (${e.code}); check DATABASE_URL and that the database runs`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `A host name cannot be resolved (${e.message}); check DATABASE_URL and HOST`
    case '28P01':
    case '28000':
      return `The database rejects the user or password of DATABASE_URL (${e.message})`
    case '53100':
      return `The disk of the database is full (${e.message}); free some space`
    case '53300':
      return `The database has no connection left (${e.message}); each process takes up to 20, so raise max_connections or stop a process`
    case '55P03':
      return `Another session keeps tables of the database locked, as \`gateway copy-database\` does (${e.message}); start again when it has ended`
    case '3D000':
      return `The database of DATABASE_URL does not exist (${e.message}); create it first`
    case 'ENOENT':
      // Node reports ENOENT, not EROFS, when it creates a folder and its parents on a read-only disk.
      if (e.syscall === 'mkdir') return `${e.path} cannot be created; check DATA_DIR, and that its disk is not read-only`
      return `${e.path ?? e.address} does not exist (${e.code}); check the files and sockets in DATABASE_URL`
    case 'ENOSPC':
      return `The disk of ${e.path ?? 'DATA_DIR'} is full (${e.code}); free some space`
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOTDIR':
    case 'EEXIST':
      return e.path ? `${e.path} cannot be written (${e.code}); check DATA_DIR and the user that runs the gateway` : e.message
    default:
      return e.message || e.errors?.map(wordsOf).join('; ') || e.name
  }
}

function placeOf(e: SystemError): string {
  const tried = [e, ...((e.errors ?? []) as SystemError[])].filter(({ address, port }) => address && port)
  return tried.map(({ address, port }) => `${address}:${port}`).join(' and ') || 'DATABASE_URL'
}

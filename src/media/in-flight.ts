// Limits the disk space that one person's uploads in progress take in this process.
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { createTally } from '../core/tally.ts'
import { maxUploadBytes } from './kinds.ts'

const mib = 1024 ** 2
/** Maximum bytes in progress per person. The plan's storage limit applies if it is smaller. */
const mostBytes = 512 * mib
/** Minimum bytes counted per upload: however small, it holds a connection and a file. */
const leastBytes = mib

/** Bytes of uploads in progress, by user id. */
const underWay = createTally()

/**
 * Reserves capacity for an upload of that `Content-Length`, or of the maximum size if there is none, until disposed of.
 * @throws API_RATE_LIMIT_EXCEEDED when the person's uploads in progress would exceed the limit.
 */
export function takeFlight({ principal: { userId }, limits }: Context, contentLength: string | undefined): Disposable {
  const declared = contentLength === undefined ? maxUploadBytes : Number(contentLength)
  const bytes = Math.max(leastBytes, declared)
  const most = Math.min(mostBytes, limits.maxMediaBytes)
  if (underWay.of(userId) + bytes > most) fail('API_RATE_LIMIT_EXCEEDED', `At most ${most / mib} MiB of uploads at the same time`)
  underWay.add(userId, bytes)
  return { [Symbol.dispose]: () => underWay.add(userId, -bytes) }
}

// Bounds what the uploads of one person hold of the disk before they are judged, in this process.
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { maxUploadBytes } from './kinds.ts'

const mib = 1024 ** 2
/** At a time, in bytes; no more than the plan stores. */
const mostBytes = 512 * mib
/** However small an upload is, it holds a connection and a file. */
const leastBytes = mib

/** Bytes of uploads under way, by the id of the user. */
const underWay = new Map<string, number>()

/**
 * Takes room for an upload of that `Content-Length`, or of the largest size where it says none, until this is disposed of.
 * @throws API_RATE_LIMIT_EXCEEDED.
 */
export function takeFlight({ principal: { userId }, limits }: Context, contentLength: string | undefined): Disposable {
  const declared = contentLength === undefined ? maxUploadBytes : Number(contentLength)
  const bytes = Math.max(leastBytes, declared)
  const most = Math.min(mostBytes, limits.maxMediaBytes)
  const taken = underWay.get(userId) ?? 0
  if (taken + bytes > most) fail('API_RATE_LIMIT_EXCEEDED', `At most ${most / mib} MiB of uploads at a time`)
  underWay.set(userId, taken + bytes)
  return {
    [Symbol.dispose]() {
      const left = (underWay.get(userId) ?? 0) - bytes
      if (left > 0) underWay.set(userId, left)
      else underWay.delete(userId)
    },
  }
}

// How a stream ended, and so what the live view does next.
import { passes } from '../graph/passing.ts'

/** `closed`: resume after the last event. `unauthorized`: renew the token first. `refused`: read again what pages show, and start anew. */
export type Ending = 'closed' | 'unauthorized' | 'refused'

/** For the HTTP status of an answer that is no stream; undefined if there was no answer. */
export function endingOfStatus(status: number | undefined): Ending {
  if (status === 401) return 'unauthorized'
  return status === 400 || status === 403 || status === 404 ? 'refused' : 'closed'
}

/** For the code of the error with which the operation of a stream ended. */
export function endingOfCode(code: string): Ending {
  if (code === 'UNAUTHORIZED') return 'unauthorized'
  return passes({ code }) ? 'closed' : 'refused'
}

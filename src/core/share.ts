// Backpressure: a semaphore with a share for each caller, in bytes of memory or in another unit that its user names. A request beyond the share
// of its caller waits until earlier requests of that caller end.
import { failFor } from './errors.ts'

export interface ShareOptions {
  /** Requests of at most this size are not counted; by default all are. */
  lightBytes?: number
  /** Bytes that one caller may hold at once. A larger request runs alone. */
  perCaller: number
  /** Bytes that all callers together may hold at once, by default any number. A larger request runs alone. */
  total?: number
  /** Longest queue of one caller, in requests. */
  mostWaiting: number
  /** Longest time that a request waits, in milliseconds. */
  waitMs: number
}

/** The response of a request; `close` is emitted once it was sent or its connection was cut. */
export interface Sending {
  destroyed: boolean
  closed: boolean
  once: (event: 'close', listener: () => void) => unknown
}

/** Memory that a request has reserved. */
export interface Reservation {
  /** Releases all but `answerBytes` at once, and the rest once the response is closed. */
  keepUntilSent: (answerBytes: number) => void
}

export interface Share {
  /**
   * Reserves memory, first in, first out within each caller. A caller whose share is used up delays no other caller.
   * @throws API_RATE_LIMIT_EXCEEDED when the queue is full, the wait for earlier requests of the caller takes longer than `waitMs`, or the
   * connection was closed meanwhile; SERVICE_UNAVAILABLE when a wait for the requests of others takes that long.
   */
  take: (caller: string, bytes: number, response?: Sending) => Promise<Reservation>
  /** Reserves memory for as long as `work` takes. @throws as `take` and the work do. */
  during: <T>(caller: string, bytes: number, work: () => Promise<T>) => Promise<T>
}

interface Claim {
  caller: string
  bytes: number
  admit: () => void
}

const nothingReserved: Reservation = { keepUntilSent() {} }

export function createShare({
  lightBytes = 0,
  perCaller,
  total = Number.POSITIVE_INFINITY,
  mostWaiting,
  waitMs,
}: ShareOptions): Share {
  const held = new Map<string, number>()
  const waiting = new Map<string, Claim[]>()
  let heldByAll = 0

  function fitsOwn({ caller, bytes }: Claim): boolean {
    const own = held.get(caller) ?? 0
    return own === 0 || own + bytes <= perCaller
  }

  function fits(claim: Claim): boolean {
    return fitsOwn(claim) && (heldByAll === 0 || heldByAll + claim.bytes <= total)
  }

  function hold(caller: string, bytes: number): void {
    heldByAll += bytes
    const own = (held.get(caller) ?? 0) + bytes
    if (own === 0) held.delete(caller)
    else held.set(caller, own)
  }

  /** Admits one request of each caller in turn. A caller that got one goes behind the others, which this loop then visits again. */
  function admitWaiting(): void {
    for (const [caller, line] of waiting) {
      const [first] = line
      if (first && !fits(first)) continue
      waiting.delete(caller)
      if (!first) continue
      line.shift()
      hold(caller, first.bytes)
      first.admit()
      if (line.length > 0) waiting.set(caller, line)
    }
  }

  async function wait(claim: Claim, admitted: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, waitMs, 'late')
    })
    const outcome = await Promise.race([admitted, late])
    clearTimeout(timer)
    const line = waiting.get(claim.caller) ?? []
    if (outcome !== 'late' || !line.includes(claim)) return
    // Admitting others may change it.
    const waitedForOthers = fitsOwn(claim)
    line.splice(line.indexOf(claim), 1)
    admitWaiting()
    if (waitedForOthers) failFor(1, 'SERVICE_UNAVAILABLE', 'The gateway has no capacity for this request; try again shortly')
    failFor(1, 'API_RATE_LIMIT_EXCEEDED', 'Too many large requests at the same time')
  }

  function reservationOf({ caller, bytes }: Claim, response: Sending | undefined): Reservation {
    let heldBytes = bytes
    const keep = (fewer: number) => {
      if (fewer >= heldBytes) return
      hold(caller, fewer - heldBytes)
      heldBytes = fewer
      admitWaiting()
    }
    if (response?.destroyed) {
      keep(0)
      failFor(1, 'API_RATE_LIMIT_EXCEEDED', 'The connection was closed before its turn came')
    }
    return {
      keepUntilSent(answerBytes) {
        if (!response || response.closed) keep(0)
        else {
          keep(answerBytes)
          response.once('close', () => keep(0))
        }
      },
    }
  }

  const share: Share = {
    async take(caller, bytes, response) {
      if (bytes <= lightBytes) return nothingReserved
      const line = waiting.get(caller) ?? []
      if (line.length >= mostWaiting)
        failFor(1, 'API_RATE_LIMIT_EXCEEDED', 'Too many large requests are waiting; send fewer at the same time')
      const { promise: admitted, resolve: admit } = Promise.withResolvers<void>()
      const claim: Claim = { caller, bytes, admit }
      waiting.set(caller, line)
      line.push(claim)
      admitWaiting()
      if (line.includes(claim)) await wait(claim, admitted)
      return reservationOf(claim, response)
    },
    async during(caller, bytes, work) {
      const reservation = await share.take(caller, bytes)
      try {
        return await work()
      } finally {
        reservation.keepUntilSent(0)
      }
    },
  }
  return share
}

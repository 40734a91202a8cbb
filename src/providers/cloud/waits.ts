// Growing waits: how long the next one is after each answer that asked for one. Kept in this process; a restart begins with short waits.
import type { Later } from './errors.ts'

export interface Waits {
  /** Milliseconds to wait now. Meta's own `Retry-After` has precedence. */
  next: (key: string, verdict: Later, retryAfterMs?: number) => number
  /** Milliseconds that are left of the wait; 0 if there is none. */
  left: (key: string) => number
  /** A call succeeded, so that the next wait is short again. */
  end: (key: string) => void
}

/** A wait is short again if none was asked for in this time after it ended. */
const forgetMs = 600_000
const most = 10_000

export function createWaits(now: () => number = Date.now): Waits {
  const waits = new Map<string, { n: number; until: number }>()
  return {
    next(key, { firstMs, factor, mostMs }, retryAfterMs) {
      const known = waits.get(key)
      // Calls that were under way together ask for one wait, not for several.
      const isSame = known !== undefined && known.until > now()
      const n = known === undefined || known.until + forgetMs < now() ? 0 : known.n + (isSame ? 0 : 1)
      const ms = retryAfterMs ?? Math.min(mostMs, firstMs * factor ** n)
      waits.delete(key)
      waits.set(key, { n, until: now() + ms })
      if (waits.size > most) waits.delete(waits.keys().next().value as string)
      return ms
    },
    left: (key) => Math.max(0, (waits.get(key)?.until ?? 0) - now()),
    end: (key) => void waits.delete(key),
  }
}

// Records when keys were last used, and their requests of each day. Both are buffered in memory and written in batches, so that no request
// waits for a write.

import type { App } from '../../core/app.ts'
import { definePart } from '../../core/part.ts'
import { type KeyDay, storeKeyUse } from './key-use.sql.ts'

export interface KeyUse extends AsyncDisposable {
  /** Records that the key is used at this moment, with the number of requests that count. -1 takes one back. */
  note: (keyId: string, requests: number) => void
  /** Writes what is buffered. */
  flush: () => Promise<void>
}

interface Used {
  at: Date
  requests: Map<KeyDay['day'], number>
}

const everyMs = 3_000

/** Writes at most once in three seconds, and on disposal. A killed process loses what it buffered since then. */
export const keyUse = definePart(createKeyUse)

export function createKeyUse(app: Pick<App, 'quickPool' | 'log'>): KeyUse {
  const used = new Map<string, Used>()
  let timer: NodeJS.Timeout | undefined

  function add(keyId: string, day: string, requests: number, at: Date): void {
    const use = used.get(keyId) ?? { at, requests: new Map() }
    if (use.at < at) use.at = at
    use.requests.set(day, (use.requests.get(day) ?? 0) + requests)
    used.set(keyId, use)
  }

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    if (used.size === 0) return
    const entries = [...used]
    used.clear()
    const uses = entries.map(([id, { at }]) => [id, at] as const)
    const days = entries.flatMap(([keyId, { requests }]) => [...requests].map(([day, n]) => ({ keyId, day, requests: n })))
    try {
      await storeKeyUse(
        app.quickPool,
        uses,
        days.filter(({ requests }) => requests !== 0),
      )
    } catch (error) {
      app.log.warn({ keys: entries.length, err: (error as Error).message }, 'the use of keys could not be written')
      for (const [id, { at, requests }] of entries) for (const [day, n] of requests) add(id, day, n, at)
      arm()
    }
  }

  function arm(): void {
    timer ??= setTimeout(() => void flush(), everyMs).unref()
  }

  return {
    note(keyId, requests) {
      const at = new Date()
      add(keyId, at.toISOString().slice(0, 10), requests, at)
      arm()
    },
    flush,
    async [Symbol.asyncDispose]() {
      await flush()
      clearTimeout(timer)
    },
  }
}

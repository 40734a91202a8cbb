// Records when keys were last used. Timestamps are buffered in memory and written in batches, so that no request waits for a write.

import type { App } from '../../core/app.ts'
import { definePart } from '../../core/part.ts'
import { storeLastUse } from './last-used.sql.ts'

export interface KeyUse extends AsyncDisposable {
  /** Records that the key is used at this moment. */
  note: (keyId: string) => void
  /** Writes the buffered timestamps. */
  flush: () => Promise<void>
}

const everyMs = 3_000

/** Writes at most once in three seconds, and on disposal. A killed process loses the timestamps since then. */
export const keyUse = definePart(createKeyUse)

export function createKeyUse(app: Pick<App, 'quickPool' | 'log'>): KeyUse {
  const used = new Map<string, Date>()
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    if (used.size === 0) return
    const entries = [...used]
    used.clear()
    try {
      await storeLastUse(app.quickPool, entries)
    } catch (error) {
      app.log.warn({ keys: entries.length, err: (error as Error).message }, 'when keys were last used could not be written')
      for (const [id, at] of entries) if (!used.has(id)) used.set(id, at)
      arm()
    }
  }

  function arm(): void {
    timer ??= setTimeout(() => void flush(), everyMs).unref()
  }

  return {
    note(keyId) {
      used.set(keyId, new Date())
      arm()
    },
    flush,
    async [Symbol.asyncDispose]() {
      await flush()
      clearTimeout(timer)
    },
  }
}

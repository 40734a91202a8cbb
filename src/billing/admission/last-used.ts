// When keys were last let in: remembered here, written for all of them at once, so that no request pays for it.
import type { App } from '../../core/app.ts'

export interface KeyUse extends AsyncDisposable {
  /** Remembers that the key is used now. */
  note: (keyId: string) => void
  /** Writes what is remembered. */
  flush: () => Promise<void>
}

declare module '../../core/app.ts' {
  interface App {
    keyUse: KeyUse
  }
}

const everyMs = 60_000

// Held in the order of their ids, so that two processes never wait for each other in a circle. The later of two moments stays.
const statement = `
with held as (
  select k.id, u.at from api_keys k join unnest($1::uuid[], $2::timestamptz[]) as u(id, at) on u.id = k.id
  order by k.id for no key update of k
)
update api_keys k set "lastUsedAt" = greatest(k."lastUsedAt", held.at) from held where held.id = k.id`

/** Writes once a minute at most, and when it is disposed of; a process that is killed forgets one minute. */
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
      await app.quickPool.query(statement, [entries.map(([id]) => id), entries.map(([, at]) => at)])
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

// Ends the streams of keys that were revoked, within 5 s: one query every 2 s over all keys that have streams here.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../core/app.ts'
import type { Outlet } from './outlet.ts'

const pollMs = 2_000

export function startRevocation(app: App, outlets: ReadonlySet<Outlet>): AsyncDisposable {
  const stopping = new AbortController()
  const running = run()

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pause(pollMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
      if (outlets.size === 0) continue
      await endRevoked().catch((error: Error) =>
        app.log.warn({ err: error.message }, 'keys of live streams could not be checked'),
      )
    }
  }

  async function endRevoked(): Promise<void> {
    const keyIds = new Set([...outlets].map((outlet) => outlet.keyId))
    const { rows } = await app.pool.query<{ id: string }>('select id from api_keys where id = any($1) and "revokedAt" is null', [
      [...keyIds],
    ])
    const valid = new Set(rows.map((row) => row.id))
    for (const outlet of [...outlets]) {
      if (keyIds.has(outlet.keyId) && !valid.has(outlet.keyId)) outlet.leave('revoked')
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await running
    },
  }
}

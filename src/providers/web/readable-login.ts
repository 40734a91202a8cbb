// Opens the login of an instance. While none of the keys of this server decrypts it, its state says so.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import { type HeldLease, type Login, openLogin, UnreadableLogin } from './auth-state.ts'
import type { Host } from './host.ts'
import type { WhatsApp } from './package.ts'
import { reportState } from './report-state.ts'

export interface LoginOptions {
  app: App
  host: Host
  whatsApp: WhatsApp
  lease: HeldLease
  /** Ends the wait with an error. */
  signal: AbortSignal
}

const againMs = 60_000

/** Keeps the lease meanwhile. Other processes have the same keys, so each of them would take the lease and give it back at once. */
export async function readableLogin({ app, host, whatsApp, lease, signal }: LoginOptions): Promise<Login> {
  for (;;) {
    try {
      return await openLogin(app, whatsApp, lease)
    } catch (error) {
      if (!(error instanceof UnreadableLogin)) throw error
      const { instanceId } = lease
      app.log.error({ instanceId, err: error.message }, 'a connection of WhatsApp Web cannot be opened')
      await reportState({ app, host, lease }, { status: 'disconnected', error: error.message })
      await pause(againMs, undefined, { signal })
    }
  }
}

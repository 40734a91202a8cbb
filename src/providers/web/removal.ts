// Removes a device from its account after a logout: with credentials that were kept aside for this alone.
import { setTimeout as pause } from 'node:timers/promises'
import type { WASocket } from 'baileys'
import type { App } from '../../core/app.ts'
import { dayMs } from '../../core/durations.ts'
import { type HeldLease, openCreds, passingKeys } from './auth-state.ts'
import { reconnectDelayMs } from './closing.ts'
import type { WhatsApp } from './package.ts'
import { endRemoval, type WantedSession } from './sessions.sql.ts'
import { openSocket } from './socket.ts'
import { timing } from './timing.ts'
import { version } from './version.ts'

export interface RemovalOptions {
  app: App
  whatsApp: WhatsApp
  lease: HeldLease
  signal: AbortSignal
}

/** Codes by which the network says that the device is not linked. */
const gone = [401, 403, 406]
const outdated = 405

/**
 * Removes earlier devices while the connection of a later one, `opened`, works. A removal may take a day, so all of them stop when that
 * connection or a ban ends; the caller then starts again with what is wanted by then.
 * @throws the error of `opened` or of a removal.
 */
export async function removeDevices(
  options: RemovalOptions,
  { removals, waitMs }: Pick<WantedSession, 'removals' | 'waitMs'>,
  opened: Promise<void> | undefined,
): Promise<void> {
  const over = new AbortController()
  const signal = AbortSignal.any([options.signal, over.signal])
  const banEnds = waitMs > 0 ? setTimeout(() => over.abort(), Math.min(waitMs, dayMs)) : undefined
  const ends = await Promise.allSettled([
    ...removals.map(({ creds, leftMs }) => removeDevice({ ...options, signal }, creds, leftMs)),
    opened?.finally(() => over.abort()),
  ])
  clearTimeout(banEnds)
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/**
 * Logs in, removes the device, and forgets the credentials. While the network is away it tries again, until the time for it is over.
 * Messages that come meanwhile are not taken, and nothing can be sent.
 */
async function removeDevice(options: RemovalOptions, removal: Buffer, removalMs: number): Promise<void> {
  const { app, whatsApp, lease, signal } = options
  const creds = app.sealer.tryOpen(removal) && openCreds(app, whatsApp, removal)
  const end = performance.now() + removalMs
  const leftMs = () => Math.max(0, end - performance.now())
  if (!creds) {
    app.log.error(
      { instanceId: lease.instanceId },
      'a device cannot be removed from its account: SECRET_KEY does not decrypt its login',
    )
    // The next start of this server may have the key.
    await pause(leftMs(), undefined, { signal, ref: false }).catch(() => {})
  }
  let isRemoved = false
  for (let failed = 0; creds && leftMs() > 0 && !signal.aborted && lease.isHeld(); failed++) {
    const login = { creds, keys: passingKeys(), save: async () => {} }
    const { closed, close } = openSocket(app, whatsApp, {
      lease,
      login,
      inbound: { add: () => Promise.reject(new Error('the instance is logged out')), knows: async () => false },
      sentContent: async () => undefined,
      onQr() {},
      onOpen(socket) {
        const asked = askForRemoval(socket).then(() => {
          isRemoved = true
        })
        void asked.catch(() => {}).then(close)
      },
    })
    const abort = () => void close()
    signal.addEventListener('abort', abort, { once: true })
    const { code } = await closed
    signal.removeEventListener('abort', abort)
    if (isRemoved || (code !== undefined && gone.includes(code))) break
    if (signal.aborted) return
    if (code === outdated) await version(app).renew()
    const delayMs = Math.min(leftMs(), reconnectDelayMs(failed, timing(app).reconnectMs))
    await pause(delayMs, undefined, { signal, ref: false }).catch(() => {})
  }
  if (!signal.aborted && lease.isHeld()) await endRemoval(app.pool, lease.instanceId, removal)
}

/** Resolves when the network has removed the device. `logout` of the package does not wait for that. */
async function askForRemoval({ query, generateMessageTag, user }: WASocket): Promise<void> {
  const removal = { tag: 'remove-companion-device', attrs: { jid: user?.id ?? '', reason: 'user_initiated' } }
  const attrs = { to: 's.whatsapp.net', type: 'set', id: generateMessageTag(), xmlns: 'md' }
  await query({ tag: 'iq', attrs, content: [removal] })
}

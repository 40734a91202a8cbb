// Applies state changes that a provider reports, and emits one event each time an instance connects or stops being connected.
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { emit } from '../events/log/emit.ts'
import type { Instance } from '../generated/prisma/client.ts'
import { providerOf } from '../providers/providers.ts'
import type { StateChange } from '../providers/reports.ts'
import { stateEvent } from './events.ts'
import { lockState, markRestricted, storeCredentials, storeStanding, storeState } from './instances.sql.ts'
import { tellInstance } from './tell.ts'

/**
 * Applies a change in one transaction. `logged_out` erases the secrets of the login. A change for a deleted instance does
 * nothing.
 */
export async function changeState(app: App, change: StateChange): Promise<void> {
  await sqlTransaction(app.pool, (tx) => applyChange(app, tx, change))
  app.signals.emit('outbox')
}

/** {@link changeState} in the transaction of the calling function, which must emit the signal `outbox` after the commit. */
export async function applyChange(
  app: App,
  tx: Sql,
  change: Omit<StateChange, 'status'> & { status?: StateChange['status'] | 'created' },
): Promise<void> {
  const { instanceId } = change
  const before = await lockState(tx, instanceId)
  if (!before) return
  if (change.restricted) await restrict(tx, before.workspaceId, change)
  if (change.atRisk || change.dailyRecipients !== undefined || change.meta) await storeStanding(tx, instanceId, change)
  const { status } = change
  if (!status) return
  // Ignores a late report on an instance that was logged out, so that it does not connect again.
  if (before.status === 'logged_out' && status !== 'connecting' && status !== 'logged_out') return
  // The network of a resting instance may report that it is still connected.
  if (before.restingAt && status !== 'logged_out') return
  const connects = status === 'connected' && before.status !== 'connected'
  const leaves = status !== 'connected' && before.status === 'connected'
  const { qr = null, pairingCode = null, error = null, waNumber = null } = change
  await storeState(tx, instanceId, { status, qr, pairingCode, error, waNumber, connects, leaves })
  if (status === 'logged_out' && before.credentials) {
    await storeCredentials(tx, instanceId, providerOf(app, before.provider)?.secretsAfterLogout(before) ?? null)
  }
  if (connects || leaves) await emit(tx, [stateEvent(before.workspaceId, instanceId, status, new Date())])
  if (connects) await app.hooks.releaseWaiting(app, tx, instanceId)
  await tellInstance(tx, before.workspaceId, instanceId)
}

/**
 * Disconnects a connected instance whose login the network refused in a call of ours, unless the login was changed meanwhile. `error` says
 * why in words.
 */
export async function refuseLogin(
  app: App,
  { id, credentials }: Pick<Instance, 'id' | 'credentials'>,
  error: string,
): Promise<void> {
  await sqlTransaction(app.pool, async (tx) => {
    const now = await lockState(tx, id)
    if (now?.status !== 'connected' || !now.credentials || !credentials || Buffer.compare(now.credentials, credentials) !== 0)
      return
    await applyChange(app, tx, { instanceId: id, status: 'disconnected', error })
  })
  app.signals.emit('outbox')
}

/** Locks an instance whose change follows in the same transaction, after other locks. */
export async function lockForChange(tx: Sql, instanceId: string): Promise<void> {
  await lockState(tx, instanceId)
}

async function restrict(
  tx: Sql,
  workspaceId: string,
  { instanceId, error, lastsMs }: Pick<StateChange, 'instanceId' | 'error' | 'lastsMs'>,
): Promise<void> {
  await markRestricted(tx, instanceId, error ?? null, lastsMs)
  await tellInstance(tx, workspaceId, instanceId)
}

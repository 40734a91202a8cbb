// Applies state changes that a provider reports, and emits one event each time an instance connects or stops being connected.
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { announceChange, subject } from '../events/live/follow.ts'
import { emit } from '../events/log/emit.ts'
import type { InstanceStatus } from '../generated/prisma/client.ts'
import type { StateChange } from '../providers/provider.ts'

/** Applies a change in one transaction. A change without status and restriction, or for a deleted instance, does nothing. */
export async function changeState(app: App, change: StateChange): Promise<void> {
  await sqlTransaction(app.pool, (tx) => applyChange(app, tx, change))
  app.signals.emit('outbox')
}

/** {@link changeState} in the transaction of the calling function, which must emit the signal `outbox` after the commit. */
export async function applyChange(app: App, tx: Sql, change: StateChange): Promise<void> {
  const { instanceId } = change
  const { rows } = await tx.query<{ status: InstanceStatus; workspaceId: string }>(
    'select status, "workspaceId" from instances where id = $1 and "deletedAt" is null for update',
    [instanceId],
  )
  const before = rows[0]
  if (!before) return
  if (change.restricted) await restrict(tx, change)
  const { status } = change
  if (!status) return
  // Ignores a late report on an instance that was logged out, so that it does not connect again.
  if (before.status === 'logged_out' && status !== 'connecting' && status !== 'logged_out') return
  const connects = status === 'connected' && before.status !== 'connected'
  const leaves = status !== 'connected' && before.status === 'connected'
  await tx.query(
    `update instances set status = $2, qr = $3, "pairingCode" = $4, "lastError" = $5, "waNumber" = coalesce($6, "waNumber"),
       "firstConnectedAt" = case when $7 then coalesce("firstConnectedAt", now()) else "firstConnectedAt" end,
       "lastConnectedAt" = case when $7 then now() else "lastConnectedAt" end,
       "lastDisconnectedAt" = case when $8 then now() else "lastDisconnectedAt" end,
       disconnections = case when $8 then array(select d from unnest(disconnections) d where d > now() - interval '24 hours') || now()::timestamptz(3)
         else disconnections end,
       "updatedAt" = now()
     where id = $1`,
    [
      instanceId,
      status,
      change.qr ?? null,
      change.pairingCode ?? null,
      change.error ?? null,
      change.waNumber ?? null,
      connects,
      leaves,
    ],
  )
  if (connects || leaves) {
    const type = connects ? 'instance.connected' : 'instance.disconnected'
    const at = new Date()
    await emit(tx, [{ workspaceId: before.workspaceId, type, instanceId, fields: { instanceId, status }, at }])
  }
  if (connects) await app.hooks.releaseWaiting(app, tx, instanceId)
  await announceChange(tx, subject('instance', instanceId))
}

async function restrict(tx: Sql, { instanceId, error }: StateChange): Promise<void> {
  await tx.query('update instances set "restrictedAt" = now(), "lastError" = $2, "updatedAt" = now() where id = $1', [
    instanceId,
    error ?? null,
  ])
  await announceChange(tx, subject('instance', instanceId))
}

// An instance changes state because its provider says so: one event each time it connects or stops being connected.
import type { App } from '../core/app.ts'
import { type Sql, transaction } from '../core/database.ts'
import { emit } from '../events/emit.ts'
import { announceChange, subject } from '../events/follow.ts'
import type { InstanceStatus } from '../generated/prisma/client.ts'
import type { StateChange } from '../providers/provider.ts'

/** What higher domains do in the same transaction when an instance connects. */
export type OnConnected = (app: App, tx: Sql, instanceId: string) => Promise<void>

/** Applies a change, in one transaction; one that changes nothing, or is about a deleted instance, does nothing. */
export async function changeState(app: App, change: StateChange, onConnected: OnConnected): Promise<void> {
  await transaction(app.pool, (tx) => applyChange(app, tx, change, onConnected))
  app.signals.emit('outbox')
}

export async function applyChange(app: App, tx: Sql, change: StateChange, onConnected?: OnConnected): Promise<void> {
  const { instanceId, status } = change
  const { rows } = await tx.query<{ status: InstanceStatus; workspaceId: string }>(
    'select status, "workspaceId" from instances where id = $1 and "deletedAt" is null for update',
    [instanceId],
  )
  const before = rows[0]
  if (!before) return
  // A provider that speaks late of an instance that was logged out does not connect it again.
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
       "restrictedAt" = case when $9 then now() else "restrictedAt" end, "updatedAt" = now()
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
      change.restricted ?? false,
    ],
  )
  if (connects || leaves) {
    const type = connects ? 'instance.connected' : 'instance.disconnected'
    const at = new Date()
    await emit(tx, [{ workspaceId: before.workspaceId, type, instanceId, fields: { instanceId, status }, at }])
  }
  if (connects) await onConnected?.(app, tx, instanceId)
  await announceChange(tx, subject('instance', instanceId))
}

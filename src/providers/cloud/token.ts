// A token that Meta refused: disconnects the instance, unless the token was replaced meanwhile.
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { lockStatus } from './cloud.sql.ts'
import { cloudHost } from './host.ts'
import type { KnownCloudInstance } from './settings.ts'

/** Returns whether this call disconnected the instance. Of several calls with one token, one does. `detail` becomes `lastError`. */
export async function refuseToken(app: App, { id, settings }: KnownCloudInstance, detail: string): Promise<boolean> {
  const host = cloudHost(app)
  const isFirst = await sqlTransaction(app.pool, async (tx) => {
    if ((await lockStatus(tx, id))?.status !== 'connected') return false
    if ((await host.instance(id, tx))?.settings.accessToken !== settings.accessToken) return false
    await host.state({ instanceId: id, status: 'disconnected', error: detail }, tx)
    return true
  })
  app.signals.emit('outbox')
  return isFirst
}

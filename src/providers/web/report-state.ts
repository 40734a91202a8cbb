// Reports the state of a connection under its lease.
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import type { StateChange } from '../reports.ts'
import type { Host } from './host.ts'
import { type Lease, lockLease } from './leases.sql.ts'

/** @throws LeaseLost, and changes nothing, when another process has the connection or something else is wanted for the instance. */
export async function reportState(
  { app, host, lease }: { app: App; host: Host; lease: Lease },
  change: Omit<StateChange, 'instanceId'>,
): Promise<void> {
  await sqlTransaction(app.pool, async (tx) => {
    await host.state({ ...change, instanceId: lease.instanceId }, tx)
    // After the instance, as a connect and a logout lock them.
    await lockLease(tx, lease)
  })
  app.signals.emit('outbox')
}

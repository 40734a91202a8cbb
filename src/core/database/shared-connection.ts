// Tells a transaction of Prisma Client which connection it got from the pool, so that SQL can run in the same transaction.
import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'

interface Slot {
  client?: pg.PoolClient
}

const slots = new AsyncLocalStorage<Slot>()

/** Runs `open`, which takes one connection from the pool, and hands that connection to the function that `open` receives. */
export async function withSharedConnection<T>(open: (connection: () => pg.PoolClient) => Promise<T>): Promise<T> {
  const slot: Slot = {}
  return await slots.run(slot, () => open(() => slot.client as pg.PoolClient))
}

/** Runs `work` so that it no longer shares the connections that it takes. */
export function withoutSharing<T>(work: () => T): T {
  return slots.exit(work)
}

/** To be called by the pool with each connection that it hands out. */
export function shareConnection(client: pg.PoolClient): pg.PoolClient {
  const slot = slots.getStore()
  if (slot) slot.client ??= client
  return client
}

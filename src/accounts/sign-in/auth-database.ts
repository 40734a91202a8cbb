// Prisma Client as better-auth gets it, so that our hooks run in its transactions.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Db } from '../../core/database/database.ts'
import type { Prisma } from '../../generated/prisma/client.ts'

const current = new AsyncLocalStorage<Prisma.TransactionClient>()

/** Returns a client whose transactions {@link dbOfHook} finds. */
export function authDatabase(db: Db): Db {
  const begin = (work: (tx: Prisma.TransactionClient) => Promise<unknown>) =>
    db.$transaction((tx) => current.run(tx, () => work(tx)))
  return new Proxy(db, { get: (client, name) => (name === '$transaction' ? begin : Reflect.get(client, name)) })
}

/**
 * Returns the transaction of better-auth that a hook runs in, or `db` if there is none. A hook that took a connection of its own would wait
 * for those of other sign-ins, which wait in the same way.
 */
export function dbOfHook(db: Db): Prisma.TransactionClient {
  return current.getStore() ?? db
}

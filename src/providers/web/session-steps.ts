// Makes each step of a Signal session a transaction of its own, which is stored before its result is used.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { SignalRepositoryWithLIDStore } from 'baileys'
import type { Transactional } from './store-first.ts'

const steps = ['encryptMessage', 'decryptMessage', 'injectE2ESession', 'migrateSession', 'deleteSession'] as const
const reads = ['validateSession', 'getSessionInfo'] as const

/**
 * The package encrypts and sends a message in one transaction, and stores the session after the message has left. A process that dies in
 * between would encrypt the next message with the same key, which the recipient refuses. Two transactions that overlap would each store the
 * session that they read. Here the steps of all sessions of a device follow one another.
 */
export function storeEachStep(repository: SignalRepositoryWithLIDStore, keys: Transactional): SignalRepositoryWithLIDStore {
  // The package finds the transaction of its caller by the asynchronous context; this one is outside of all.
  const outside = AsyncLocalStorage.snapshot()
  const own: Record<string, (...args: never[]) => Promise<unknown>> = {}
  for (const name of steps) {
    const step = repository[name].bind(repository) as (...args: never[]) => Promise<unknown>
    own[name] = (...args) => outside(() => keys.transaction(() => step(...args), 'sessions'))
  }
  for (const name of reads) {
    const read = repository[name].bind(repository) as (...args: never[]) => Promise<unknown>
    own[name] = (...args) => outside(() => read(...args))
  }
  return Object.assign(repository, own)
}

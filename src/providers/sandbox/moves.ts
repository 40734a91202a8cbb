// Steps of the connections of the sandbox network. Those of an instance follow one another, and wait for no other instance.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import type { Reports, StateChange } from '../reports.ts'
import { addSteps, deleteStep, type Move, readDueMoves, type StateKind } from './sandbox.sql.ts'
import { sandboxNumber } from './script.ts'

export interface Moves {
  /**
   * Begins the steps that are due from the time `from` on, of instances that have none in progress. Waits for them, but not for long, because
   * another transaction may have locked an instance for seconds. Returns the number of instances.
   */
  begin: (from: string) => Promise<number>
  /** Resolves when none is in progress. */
  ended: () => Promise<void>
}

/** Most steps that are read at once. */
const mostSteps = 1_000
/** Most instances whose steps are in progress. Each has a connection to the database. */
const mostInstances = 5
const waitMs = 100
/** How soon the steps of an instance are tried again after a failure of the database. */
const retryMs = 500

export function createMoves(app: App, events: Reports): Moves {
  const moving = new Map<string, Promise<void>>()

  async function moveAll(steps: readonly Move[]): Promise<void> {
    try {
      for (const step of steps) await move(app, events, step)
    } catch (error) {
      app.log.warn({ err: (error as Error).message }, 'a connection of the sandbox network could not be changed')
      // It is still due.
      await pause(retryMs)
    }
  }

  return {
    async begin(from) {
      const due = await readDueMoves(app.pool, from, mostSteps, [...moving.keys()])
      const byInstance = [...Map.groupBy(due, ({ instanceId }) => instanceId)].slice(0, mostInstances - moving.size)
      const begun = byInstance.map(([instanceId, steps]) => {
        const work = moveAll(steps).finally(() => moving.delete(instanceId))
        moving.set(instanceId, work)
        return work
      })
      if (begun.length > 0) await Promise.race([Promise.all(begun), pause(waitMs, undefined, { ref: false })])
      return begun.length
    },
    async ended() {
      await Promise.all(moving.values())
    },
  }
}

/** State change of an instance by each step of a connection. */
export const changes: Record<StateKind, (instanceId: string, seed: number) => Omit<StateChange, 'instanceId'>> = {
  connected: (instanceId, seed) => ({ status: 'connected', waNumber: sandboxNumber(seed, instanceId) }),
  disconnect: () => ({ status: 'disconnected', error: 'CONNECTION_LOST' }),
  reconnect: () => ({ status: 'connected' }),
  restrict: () => ({ restricted: true, error: 'ACCOUNT_RESTRICTED' }),
}

/** Changes the state of an instance once, in the transaction that deletes the step and adds the one that follows. */
async function move(app: App, events: Reports, { id, instanceId, kind, payload }: Move): Promise<void> {
  await sqlTransaction(app.pool, async (tx) => {
    // Changes nothing: it locks the instance, before the step, as a logout does.
    await events.state({ instanceId }, tx)
    if (!(await deleteStep(tx, id))) return
    await events.state({ instanceId, ...changes[kind](instanceId, app.config.sandboxSeed) }, tx)
    if (payload.next) await addSteps(tx, [{ instanceId, ...payload.next }], app.config.sandboxLatencyMs)
  })
  app.signals.emit('outbox')
}

// Tells the relay of another process that this one has committed events. The process that leads rings its own relay instead.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import { definePart } from '../../core/part.ts'
import { notifyLeader } from './relay.sql.ts'

/** True while this process numbers events. */
export const leadership = definePart(() => ({ held: false }))

/** Shortest time between two notifications of one process. */
const restMs = 20

/** Announces the commits of this process until disposed. A lost announcement costs two seconds: the relay also looks by itself. */
export function announceOutbox(app: App): AsyncDisposable {
  let running: Promise<void> | undefined
  let again = false

  function announce(): void {
    if (leadership(app).held) return
    again = true
    running ??= run().finally(() => {
      running = undefined
    })
  }

  async function run(): Promise<void> {
    while (again) {
      again = false
      await notifyLeader(app.quickPool).catch(() => {})
      await pause(restMs)
    }
  }

  app.signals.on('outbox', announce)
  return {
    async [Symbol.asyncDispose]() {
      app.signals.off('outbox', announce)
      await running
    },
  }
}

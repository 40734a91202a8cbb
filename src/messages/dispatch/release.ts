// Releases held messages when they may leave: at the end of a hold, when sends of their instance end, or when the process
// that accepted them is not the one that holds the connection.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import { createBatch } from '../../core/batch.ts'
import { connectDedicated } from '../../core/database/dedicated.ts'
import { confirmConnection, listenAsHolder, readNotification } from '../../instances/sending.sql.ts'
import { providers } from '../../providers/providers.ts'
import { lastInstant } from './dispatch.ts'
import { instanceKey } from './hold-key.ts'
import { readHeld, readKey } from './holds.sql.ts'
import { inFlight } from './in-flight.ts'
import { widerThan } from './policy.ts'
import { sendAhead, sendReleased } from './send.ts'

/** For longer holds, only the job of the key releases their messages. */
const longestTimerMs = 60_000
const retryMs = 500

/** Releases messages until disposed of, and then waits for the sends in progress. */
export function startReleasing(app: App): AsyncDisposable {
  const stopping = new AbortController()
  const timers = new Map<string, NodeJS.Timeout>()
  const releasing = new Map<string, Promise<void>>()
  /** Keys that were named again while their messages were being released. */
  const again = new Set<string>()
  const listening = [...providers(app).values()].some(({ holds }) => holds) ? listen() : undefined

  function plan(key: string, afterMs: number): void {
    if (afterMs > longestTimerMs || stopping.signal.aborted) return
    if (afterMs === 0) {
      start(key)
      return
    }
    clearTimeout(timers.get(key))
    // Some milliseconds later, because the hold began with the statement that stored it.
    timers.set(key, setTimeout(start, afterMs + 5, key).unref())
  }

  function start(key: string): void {
    timers.delete(key)
    if (stopping.signal.aborted) return
    if (releasing.has(key)) {
      again.add(key)
      return
    }
    releasing.set(
      key,
      release(key).finally(() => {
        releasing.delete(key)
        if (again.delete(key)) start(key)
      }),
    )
  }

  /**
   * Sends a few messages, and twice as many each time as long as the network takes them. Goes on behind those that must not leave any more.
   * Never rejects: the job of the key checks again.
   */
  async function release(key: string): Promise<void> {
    try {
      for (let size = 1; !stopping.signal.aborted; ) {
        const { until, now } = await readKey(app.pool, key)
        if (until) {
          plan(key, until.getTime() - now.getTime())
          return
        }
        const ids = await readHeld(app.pool, key, size)
        if (ids.length === 0) return
        const { sent, passed } = await sendReleased(app, ids)
        if (sent + passed === 0) return
        if (sent > 0) size = widerThan(size)
      }
    } catch (error) {
      app.log.warn({ key, err: (error as Error).message }, 'held messages could not be released')
    }
  }

  /** Sends new messages for a connection of this process. It claims as many at a time as the workers do, so that others get connections. */
  const sendNew = createBatch<string, undefined>({
    max: 200,
    parallel: 3,
    async run(ids) {
      lastInstant(app).at = performance.now()
      await sendAhead(app, ids)
      return ids.map(() => undefined)
    },
  })

  /** Learns of messages for a connection that this process holds. A job of theirs, or of their key, repeats a lost notification. */
  async function listen(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await using connection = await connectDedicated(app, 'gateway-holder')
        const { client, lost } = connection
        client.on('notification', ({ payload = '' }) => {
          const { node, instanceId, ids } = readNotification(payload)
          if (node !== app.node || !instanceId) return
          if (ids.length > 0) inFlight(app).keep(Promise.all(ids.map(sendNew)))
          else start(instanceKey(instanceId))
        })
        await listenAsHolder(client)
        const over = AbortSignal.any([stopping.signal, lost])
        while (!over.aborted) {
          await pause(5_000, undefined, { signal: over }).catch(() => {})
          if (!over.aborted) await confirmConnection(client)
        }
      } catch (error) {
        app.log.warn(
          { err: (error as Error).message },
          'not listening for messages to the connections of this process; trying again',
        )
        await pause(retryMs, undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
  }

  app.signals.on('held', plan)
  return {
    async [Symbol.asyncDispose]() {
      app.signals.off('held', plan)
      stopping.abort()
      for (const timer of timers.values()) clearTimeout(timer)
      await listening
      await Promise.all(releasing.values())
      await inFlight(app).idle()
    },
  }
}

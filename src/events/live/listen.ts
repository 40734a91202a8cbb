// Receives changes that other processes made: one LISTEN connection per process, with polling as the fallback.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { connectDedicated } from '../../core/database/dedicated.ts'
import { startLoop, wait } from '../../core/loop.ts'
import { channelOf, listenToChanges } from './changes.sql.ts'

export interface Listener {
  /** Called with the last event number assigned, from a notification. */
  onLast: (last: bigint) => void
  /** Called when listening begins, and every two seconds: finds what no notification told. */
  poll: (sql: Sql) => Promise<void>
  /** Called when a subject has changed. */
  onChange: (subject: string) => void
  /** Called with each payload that another process sent to this one. */
  onCall: (payload: string) => void
  /** Called when listening begins, or begins again. Notifications sent in between were missed. */
  onStart: () => void
}

const pollMs = 2_000
const retryMs = 500

/** Listens until disposed of. A lost or unresponsive connection is replaced; it is detected within 6 s. */
export function startListening(app: App, listener: Listener): AsyncDisposable {
  const own = channelOf(app.node)

  async function listen(stop: AbortSignal): Promise<void> {
    await using connection = await connectDedicated(app, 'gateway-listen')
    const { client, lost } = connection
    client.on('notification', ({ channel, payload = '' }) => {
      if (channel === 'gateway_events') listener.onLast(BigInt(payload))
      else if (channel === own) listener.onCall(payload)
      else listener.onChange(payload)
    })
    await listenToChanges(client, app.node)
    listener.onStart()
    const over = AbortSignal.any([stop, lost])
    while (!stop.aborted) {
      if (lost.aborted) throw new Error('connection lost')
      await listener.poll(client)
      await wait(pollMs, over)
    }
  }

  return startLoop(async (stop) => {
    while (!stop.aborted) {
      await listen(stop).catch(async (error: Error) => {
        app.log.warn({ err: error.message }, 'not listening to the database; trying again')
        await wait(retryMs, stop)
      })
    }
  })
}

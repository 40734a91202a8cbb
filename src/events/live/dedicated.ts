// A connection of one's own, for what belongs to a session: locks and LISTEN.
import net from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { App } from '../../core/app.ts'

export interface Dedicated extends AsyncDisposable {
  client: pg.Client
  /** Aborted when the connection is gone. */
  lost: AbortSignal
}

/** Statements that take longer than this on a dedicated connection fail, so that a half-open one is noticed. */
const queryTimeoutMs = 5_000

/** @throws when the database cannot be reached. */
export async function connectDedicated(app: App, name: string): Promise<Dedicated> {
  const socket = new net.Socket()
  const lost = new AbortController()
  const client = new pg.Client({
    connectionString: app.pool.options.connectionString,
    // A socket of our own can be destroyed, which is all that helps against a connection that answers nothing.
    stream: () => socket,
    connectionTimeoutMillis: queryTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    application_name: name,
  })
  client.on('error', () => lost.abort())
  client.on('end', () => lost.abort())
  try {
    await client.connect()
  } catch (error) {
    socket.destroy()
    throw error
  }
  return {
    client,
    lost: lost.signal,
    async [Symbol.asyncDispose]() {
      await Promise.race([client.end().catch(() => {}), pause(500, undefined, { ref: false })])
      socket.destroy()
    },
  }
}

// A dedicated database connection, for features that belong to a session: advisory locks and LISTEN.
import net from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import type { App } from '../app.ts'
import { Client } from './client.ts'
import { withoutJit } from './session.ts'

export interface Dedicated extends AsyncDisposable {
  client: pg.Client
  /** Aborted when the connection is lost. */
  lost: AbortSignal
}

/** A slower statement on a dedicated connection fails, so that a half-open connection is detected. */
const queryTimeoutMs = 5_000

/** @throws Error when the database cannot be reached. */
export async function connectDedicated(app: App, name: string): Promise<Dedicated> {
  const url = app.config.databaseDirectUrl ?? (app.pool.options.connectionString as string)
  const connection = await connectTo(url, name, queryTimeoutMs)
  app.forgotten.add(connection.client)
  return connection
}

/** Connects to the database at `url`. A slower connection or statement than `timeoutMs` fails. */
export async function connectTo(url: string, name: string, timeoutMs: number): Promise<Dedicated> {
  const socket = new net.Socket()
  const lost = new AbortController()
  const client = new Client({
    connectionString: url,
    // A socket made here can be destroyed. Nothing else ends a connection that does not respond.
    stream: () => socket,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    // With this, a statement that ran into its timeout ends the connection, so that the next one does not wait for its timeout too.
    pipeline: true,
    keepAlive: true,
    application_name: name,
    options: withoutJit,
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

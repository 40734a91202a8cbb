// Setup for tests of events: an app without a server, events of an invented message flow, and one relay.
import { openApp as openGateway } from '../../src/app.ts'
import type { App } from '../../src/core/app.ts'
import { readConfig } from '../../src/core/config/config.ts'
import type { Sql } from '../../src/core/database/database.ts'
import { newId } from '../../src/core/id.ts'
import type { NewEvent } from '../../src/events/log/define.ts'
import { emit } from '../../src/events/log/emit.ts'
import { type RelaySink, startRelay } from '../../src/events/log/relay.ts'
import { atEnd } from '../kit/at-end.ts'
import { sql } from '../kit/database.ts'
import { secretKey } from '../kit/environment.ts'
import type { SseReader } from './sse.ts'

/** Opens an app on the database, without workers or a server; it ends with the test. */
export async function openApp(databaseUrl: string): Promise<App> {
  const { config, secrets } = readConfig({ DATABASE_URL: databaseUrl, SECRET_KEY: secretKey, LOG_LEVEL: 'silent' })
  const app = await openGateway({ config, secrets, databaseUrl })
  atEnd('test', async () => await app[Symbol.asyncDispose]())
  return app
}

export async function openRelay(app: App, ...sinks: RelaySink[]): Promise<AsyncDisposable> {
  const relay = await startRelay(app, sinks)
  atEnd('test', async () => await relay[Symbol.asyncDispose]())
  return relay
}

export interface Place {
  workspaceId: string
  instanceId: string
}

/** A workspace that exists in events only. */
export function newPlace(): Place {
  return { workspaceId: newId(), instanceId: newId() }
}

/** An event with its number `n` in the payload. */
export function newEvent(place: Place, n: number, type = 'message.sent', padding = ''): NewEvent {
  return {
    ...place,
    type,
    messageId: null,
    fields: { instanceId: place.instanceId, n: String(n), ...(padding ? { padding } : {}) },
    at: new Date(),
  }
}

/** Emits events numbered from `first` on, in one transaction. */
export async function emitMany(tx: Sql, place: Place, count: number, first = 0, padding = ''): Promise<void> {
  await emit(
    tx,
    Array.from({ length: count }, (_, i) => newEvent(place, first + i, 'message.sent', padding)),
  )
}

/** Returns the `n` of a payload. */
export function numberOf(payload: string | undefined): number {
  return Number((JSON.parse(payload ?? '{}') as { n?: string }).n)
}

/** Returns the `n` of each event of a reader that gets the payload itself as data. */
export function plainNumbers(reader: Pick<SseReader, 'events'>): number[] {
  return reader.events.map(({ data }) => numberOf(data))
}

/** Returns the numbers from 0 to `count` - 1. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

/** Returns the whole log, in order. */
export async function wholeLog(databaseUrl: string): Promise<{ seq: number; n: number; payload: string }[]> {
  const { rows } = await sql(databaseUrl).query<{ seq: string; payload: string }>(
    'select seq, payload::text as payload from events order by seq',
  )
  return rows.map(({ seq, payload }) => ({ seq: Number(seq), n: numberOf(payload), payload }))
}

// Setup for tests of dispatch: workers in this process that share a database and a network made for the test.
import type { App } from '../../src/core/app.ts'
import type { OutgoingMessage, SendOutcome } from '../../src/providers/outgoing.ts'
import type { Provider, StoredInstance } from '../../src/providers/provider.ts'
import { providers } from '../../src/providers/providers.ts'
import { startWorker } from '../../src/worker.ts'
import { atEnd } from '../kit/at-end.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openApp } from './rig.ts'

export interface Call {
  id: string
  instanceId: string
  to: string
  /** By `performance.now()`. */
  at: number
  /** The process that called. */
  node: string
}

export interface Network {
  /** Every call of `send`, in order. */
  calls: Call[]
  answer: (message: OutgoingMessage, instance: StoredInstance) => SendOutcome | Promise<SendOutcome>
}

export function accepted({ messageId }: OutgoingMessage): SendOutcome {
  return { outcome: 'accepted', providerMessageId: `test.${messageId}` }
}

export function network(): Network {
  return { calls: [], answer: accepted }
}

/** An App with the worker role, on the network. `own` replaces calls of its provider. */
export async function openWorker(
  databaseUrl: string,
  net: Network,
  own: Partial<Provider> = {},
  env: Record<string, string> = {},
): Promise<App> {
  const app = await openApp(databaseUrl, { ROLES: 'worker', ...env })
  const sandbox = providers(app).get('sandbox') as Provider
  const provider: Provider = {
    ...sandbox,
    reconcileMs: 200,
    async send(instance, message) {
      net.calls.push({ id: message.messageId, instanceId: instance.id, to: message.to, at: performance.now(), node: app.node })
      return await net.answer(message, instance)
    },
    ...own,
  }
  providers.replace(app, new Map([['sandbox', provider]]))
  const worker = await startWorker(app)
  atEnd('test', async () => {
    app.stopping = true
    await worker[Symbol.asyncDispose]()
  })
  return app
}

/** Waits until the network has accepted all of these messages. */
export async function allAccepted(databaseUrl: string, ids: readonly string[]): Promise<void> {
  await until(async () => {
    const { rows } = await sql(databaseUrl).query('select from messages where id = any($1) and "acceptedAt" is not null', [ids])
    return rows.length === ids.length
  })
}

/** The key under which each of these messages waits, or its status. */
export async function statesOf(databaseUrl: string, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql(databaseUrl).query<{ state: string }>(
    `select case when "waitingSince" is not null then 'held by ' || split_part("heldBy", ' ', 1) else concat_ws(' ', status, error) end as state
     from messages where id = any($1) order by id`,
    [ids],
  )
  return rows.map(({ state }) => state)
}

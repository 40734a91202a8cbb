// Instances of `web` on the loopback network: creates them, pairs them, sends.
import type { App } from '../../src/core/app.ts'
import { muteSignalKeys } from '../../src/providers/web/mute-console.ts'
import { undoFailedTrials } from '../../src/providers/web/session-trials.ts'
import { type Timing, timing } from '../../src/providers/web/timing.ts'
import { type Account, createAccount } from '../kit/accounts.ts'
import { type Api, api } from '../kit/api.ts'
import { atEnd } from '../kit/at-end.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { Loopback, rootKey } from './loopback.ts'

/** Environment of a gateway whose instances of `web` connect to this network, with `path` at the end of its address. */
export const environmentOf = (network: Loopback, path = '') => ({
  WEB_SOCKET_URL: network.url + path,
  WEB_ROOT_KEY: rootKey,
  RATE_LIMIT_PER_SECOND: '100000',
})

export async function openLoopback(...phones: string[]): Promise<Loopback> {
  // The phones of the network use the same package.
  muteSignalKeys()
  undoFailedTrials()
  const network = await new Loopback().listen()
  network.addPhones(...phones)
  atEnd('file', () => network.close())
  return network
}

/** Shortens times of the connections in a gateway of this process. Those of leases hold from the next start on. */
export function hasten({ app }: { app: App }, times: Partial<Timing>): void {
  timing.replace(app, { ...timing(app), ...times })
}

/** The number of attempts to send that ended with this outcome. */
export async function sendsWith({ app }: { app: App }, outcome: string): Promise<number> {
  const { values } = await app.metrics.sendSeconds.get()
  return values.find(({ metricName, labels }) => metricName?.endsWith('_count') && labels.outcome === outcome)?.value ?? 0
}

export interface LiveState {
  status: string
  qr: string | null
  pairingCode: string | null
  lastError: string | null
}

export interface Client {
  account: Account
  api: Api
  state: (id: string) => Promise<LiveState>
  /** Creates an instance and returns its id. */
  create: (settings?: object) => Promise<string>
  /** Waits until the instance has that status. */
  reached: (id: string, status: string) => Promise<LiveState>
  /** Pairs an instance with the phone of this number, by its QR code. */
  pair: (network: Loopback, digits: string, settings?: object) => Promise<string>
}

export async function openClient(databaseUrl: string, gateway: { url: string }): Promise<Client> {
  const account = await createAccount(databaseUrl)
  const calls = api(gateway, account.apiKey)
  const state = async (id: string) => (await calls.get(`instances/${id}/state`)).body.data as LiveState
  const client: Client = {
    account,
    api: calls,
    state,
    async create(settings = { pace: { minMs: 0, maxMs: 0 } }) {
      const { status, body } = await calls.post('instances', { name: 'Shop', provider: 'web', settings })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body.data.id
    },
    reached: (id, status) =>
      until(async () => {
        const found = await state(id)
        if (found.status !== status) throw new Error(`it is ${JSON.stringify(found)}`)
        return found
      }),
    async pair(network, digits, settings) {
      const id = await client.create(settings)
      const { status, body } = await calls.post(`instances/${id}/connect`, {})
      if (status !== 200) throw new Error(JSON.stringify(body))
      // A code can be out of date, because its connection has just moved to another process; that process may show another one.
      let scanned: string | undefined
      await until(async () => {
        const found = await state(id)
        if (found.qr && found.qr !== scanned) {
          network.scan(found.qr, digits)
          scanned = found.qr
        }
        if (found.status !== 'connected') throw new Error(`it is ${JSON.stringify(found)}`)
        return true
      })
      return id
    },
  }
  return client
}

// biome-ignore lint/suspicious/noExplicitAny: the columns are those of the statement
export async function rowsOf(databaseUrl: string, text: string, values: unknown[] = []): Promise<any[]> {
  return (await sql(databaseUrl).query(text, values)).rows
}

// The provider of the Cloud API by itself, in an App without workers: what it answers to a send, without the dispatch around it.
import { hostFor } from '../../src/app.ts'
import type { App } from '../../src/core/app.ts'
import { createInstance } from '../../src/instances/service.ts'
import type { OutgoingMessage } from '../../src/providers/outgoing.ts'
import type { Provider, StoredFile, StoredInstance } from '../../src/providers/provider.ts'
import { providers } from '../../src/providers/providers.ts'
import { createAccount } from '../kit/accounts.ts'
import { atEnd } from '../kit/at-end.ts'
import { sql } from '../kit/database.ts'
import { contextFor, openApp } from '../messages/rig.ts'
import { fresh } from './rig.ts'
import type { MetaNumber, StandIn } from './stand-in.ts'

export interface Shop {
  number: MetaNumber
  instance: StoredInstance
}

export interface ProviderRig {
  app: App
  provider: Provider
  /** A connected instance, in a workspace of its own, because a plan allows twenty. */
  shop: (given?: Partial<MetaNumber>) => Promise<Shop>
}

/** `file` is what the store has, whatever the address. */
export async function openProvider(
  databaseUrl: string,
  standIn: StandIn,
  file?: StoredFile,
  env: Record<string, string> = {},
): Promise<ProviderRig> {
  const app = await openApp(databaseUrl, { CLOUD_API_URL: standIn.url, CLOUD_HEALTH_SECONDS: '100000', ...env })
  const provider = providers(app).get('cloud') as Provider
  const host = hostFor(app, 'cloud')
  const started = await provider.start(file ? { ...host, file: async () => file } : host)
  atEnd('test', () => started[Symbol.asyncDispose]())
  return {
    app,
    provider,
    async shop(given) {
      const number = standIn.addNumber(given)
      const ctx = contextFor(app, await createAccount(databaseUrl))
      const { id } = await createInstance(ctx, { name: 'Shop', provider: 'cloud', settings: standIn.settingsOf(number) })
      const { rows } = await sql(databaseUrl).query<StoredInstance>(
        `update instances set status = 'connected', "waNumber" = '+15550100' where id = $1 returning id, "waNumber", settings, credentials`,
        [id],
      )
      return { number, instance: rows[0] as StoredInstance }
    },
  }
}

/** A text, unless `given` says otherwise. */
export function outgoing(given: Partial<OutgoingMessage> = {}): OutgoingMessage {
  const usual = { type: 'text', body: 'hello', mediaUrl: null, content: null, template: null }
  return { ...usual, messageId: crypto.randomUUID(), to: fresh(), ...given } as OutgoingMessage
}

// defineProvider: makes a provider from its settings and its calls, and decrypts the settings of an instance for each call.
import type { z } from 'zod'
import type { App } from '../core/app.ts'
import type { SendOutcome } from './outgoing.ts'
import type { Connector, Provider, ProviderHost, ProviderInstance, ProviderName, StoredInstance } from './provider.ts'
import { createSettingsStore, type Secrets } from './settings.ts'

export interface ProviderDefinition<Settings extends object> {
  name: ProviderName
  /** With `z.strictObject`, unknown settings are refused. */
  settings: z.ZodType<Settings>
  secrets: Secrets<Settings>
  /** The setting that names the account at the network. It cannot be changed, and a unique index keeps it apart in a workspace. */
  identity?: keyof Settings & string
  /** Opens the network for one App. */
  open: (app: App) => Connector<ProviderInstance<Settings>, ProviderInstance<Partial<Settings>>>
}

export type OpenProvider = (app: App) => Provider

export function defineProvider<Settings extends object>(definition: ProviderDefinition<Settings>): OpenProvider {
  return (app) => {
    const store = createSettingsStore(app.sealer, definition.settings, definition.secrets, definition.identity)
    const connector = definition.open(app)
    const { fetchMedia, markRead } = connector
    const complete = ({ id, waNumber, ...stored }: StoredInstance) => ({ id, waNumber, settings: store.open(stored) })
    const known = ({ id, waNumber, ...stored }: StoredInstance) => ({ id, waNumber, settings: store.openKnown(stored) })
    const hostOf = (host: ProviderHost<StoredInstance>): ProviderHost<ProviderInstance<Partial<Settings>>> => ({
      ...host,
      async instance(...of) {
        const stored = await host.instance(...of)
        return stored && known(stored)
      },
      siblings: async (...of) => (await host.siblings(...of)).map(known),
    })

    async function send(stored: StoredInstance, message: Parameters<Provider['send']>[1]): Promise<SendOutcome> {
      let instance: ProviderInstance<Settings>
      try {
        instance = complete(stored)
      } catch (error) {
        // Nothing was sent, so the attempt may be repeated once the settings are right.
        app.log.warn({ instanceId: stored.id, err: (error as Error).message }, 'the settings of an instance cannot be used')
        return { outcome: 'retry', error: 'PROVIDER_ERROR' }
      }
      return await connector.send(instance, message)
    }

    return {
      name: definition.name,
      installed: connector.installed,
      identity: definition.identity,
      storeSettings: store.store,
      changeSettings: store.change,
      secretsAfterLogout: store.afterLogout,
      sendsOnce: (instance) => connector.sendsOnce(known({ ...instance, credentials: null })),
      reconcileMs: connector.reconcileMs,
      connect: async (instance, options, tx) => await connector.connect(complete(instance), options, tx),
      pairByCode:
        connector.pairByCode &&
        (async (instance, phone, tx) => (await connector.pairByCode?.(known(instance), phone, tx)) ?? false),
      changed:
        connector.changed &&
        (async (before, after, status, tx) => await connector.changed?.(known(before), complete(after), status, tx)),
      logout: async (instance, tx) => await connector.logout(known(instance), tx),
      send,
      holds: connector.holds,
      faultOfFile: connector.faultOfFile,
      accountOf: connector.accountOf && ((instance) => connector.accountOf?.(known({ ...instance, credentials: null })) ?? null),
      approvedTemplates:
        connector.approvedTemplates && (async (instance) => (await connector.approvedTemplates?.(complete(instance))) ?? []),
      check: connector.check && (async (instance) => (await connector.check?.(complete(instance))) ?? ''),
      freeContentMs: connector.freeContentMs,
      addressesOf: connector.addressesOf,
      verifyToken: (instance) => connector.verifyToken?.(known(instance)),
      lookup: async (instance, numbers) => await connector.lookup(complete(instance), numbers),
      fetchMedia: fetchMedia && (async (instance, ...rest) => await fetchMedia(complete(instance), ...rest)),
      markRead: markRead && (async (instance, message) => await markRead(complete(instance), message)),
      forget: connector.forget,
      start: (host) => connector.start(hostOf(host)),
      routes: connector.routes?.map((route) => ({
        ...route,
        answer: (request, host) => route.answer(request, hostOf(host)),
      })),
    }
  }
}

// Provider `web`: WhatsApp Web as a linked device of a phone. One process at a time holds the connection of an instance.
import type { App } from '../../core/app.ts'
import { defineProvider } from '../define-provider.ts'
import { faultOfFile } from '../outgoing.ts'
import type { Connector, ProviderInstance } from '../provider.ts'
import { type CarryOut, callHolder } from './calls.ts'
import { download } from './download.ts'
import { type Holder, startHolder } from './holder.ts'
import type { Host } from './host.ts'
import { deleteLogin, readCreds } from './keys.sql.ts'
import { raiseToken } from './leases.sql.ts'
import { askNetwork, lookUp } from './lookup.ts'
import { markRead } from './mark-read.ts'
import { deleteOptions } from './options.sql.ts'
import { isInstalled } from './package.ts'
import { createSend } from './send.ts'
import { lockWebSession, wantClosed, wantCode, wantOpen } from './sessions.sql.ts'
import { settings, type WebSettings } from './settings.ts'

type Known = ProviderInstance<Partial<WebSettings>>

export const web = defineProvider<WebSettings>({ name: 'web', settings, secrets: {}, open: openWeb })

/** Time in which the transaction of the calling function has most likely committed. If it has not, the next poll finds its changes. */
const commitMs = 20
const readMs = 4_000

function openWeb(app: App): Connector<ProviderInstance<WebSettings>, Known> {
  let holder: Holder | undefined
  let host: Host | undefined
  const session = (instanceId: string) => holder?.session(instanceId)
  const carryOut: CarryOut = (instanceId, call) => {
    const live = session(instanceId)?.live()
    if (!live) return undefined
    return call.call === 'lookup' ? askNetwork(app, instanceId, live, call.numbers) : markRead(live, call)
  }
  return {
    installed: isInstalled,
    sendsOnce: () => true,
    reconcileMs: 60_000,
    holds: (instanceId) => session(instanceId)?.live() !== undefined,
    send: createSend({ app, session, host: () => host }),
    lookup: (instance, numbers) => lookUp(app, carryOut, instance.id, numbers),
    faultOfFile,
    forget: (messages, tx) => deleteOptions(tx, messages),
    fetchMedia: (_, media, signal) => download(app, media, signal),
    async markRead({ id }, { providerMessageId: stanzaId, from }) {
      const done = await callHolder(app, carryOut, id, { call: 'read', from, stanzaId }, readMs)
      return done === undefined ? { outcome: 'retry', detail: 'the connection is not open' } : { outcome: 'done' }
    },
    async connect({ id }, { phone }, tx) {
      const bannedUntil = await wantOpen(tx, id, phone ?? null)
      await raiseToken(tx, id)
      holder?.wakeIn(commitMs)
      if (!bannedUntil) return undefined
      return { status: 'disconnected', error: `the network banned the account until ${bannedUntil.toISOString()} (402)` }
    },
    async pairByCode({ id }, phone, tx) {
      // A paired device logs in without a code.
      if ((await readCreds(tx, id)) || !(await wantCode(tx, id, phone))) return false
      await raiseToken(tx, id)
      holder?.wakeIn(commitMs)
      return true
    },
    async logout({ id }, tx) {
      await lockWebSession(tx, id)
      // From here on the holder writes nothing under its token, so that no key comes back after its deletion.
      await raiseToken(tx, id)
      await wantClosed(tx, id, await readCreds(tx, id))
      await deleteLogin(tx, id)
      holder?.wakeIn(commitMs)
    },
    async start(given) {
      if (!isInstalled()) return new AsyncDisposableStack()
      host = given
      holder = startHolder(app, given, carryOut)
      return holder
    },
  }
}

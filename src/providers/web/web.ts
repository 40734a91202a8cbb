// Provider `web`: WhatsApp Web as a linked device of a phone. One process at a time holds the connection of an instance.
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import { defineProvider } from '../define-provider.ts'
import type { Connector, ProviderInstance } from '../provider.ts'
import { type Holder, startHolder } from './holder.ts'
import { deleteLogin, readCreds } from './keys.sql.ts'
import { raiseToken } from './leases.sql.ts'
import { isInstalled } from './package.ts'
import { createSend } from './send.ts'
import type { Host } from './session.ts'
import { wantClosed, wantOpen } from './sessions.sql.ts'

const delayMs = z.int().min(0).max(60_000)

const settings = z.strictObject({
  /** Time between two messages of the instance, chosen at random between the bounds. */
  pace: z
    .strictObject({ minMs: delayMs, maxMs: delayMs })
    .refine(({ minMs, maxMs }) => minMs <= maxMs, 'minMs must not be greater than maxMs')
    .default({ minMs: 1_000, maxMs: 3_000 }),
  /** `text`: buttons are numbered options. `native`: buttons of the network, which not every app shows. */
  buttons: z.enum(['text', 'native']).default('text'),
  /** Shows that somebody is typing before each message. */
  typing: z.boolean().default(false),
  /** Tells the network that inbound messages were read, as soon as they are stored. */
  markRead: z.boolean().default(false),
})

export type WebSettings = z.output<typeof settings>
type Known = ProviderInstance<Partial<WebSettings>>

export const web = defineProvider<WebSettings>({ name: 'web', settings, secrets: {}, open: openWeb })

/** Time in which the transaction of the calling function has most likely committed. If it has not, the next look finds its changes. */
const commitMs = 20

function openWeb(app: App): Connector<ProviderInstance<WebSettings>, Known> {
  let holder: Holder | undefined
  let host: Host | undefined
  const session = (instanceId: string) => holder?.session(instanceId)
  return {
    installed: () => isInstalled(),
    sendsOnce: () => true,
    reconcileMs: 60_000,
    holds: (instanceId) => session(instanceId)?.lease.isHeld() ?? false,
    send: createSend({ app, session, host: () => host }),
    lookup: async (_, numbers) => numbers.map(() => null),
    async connect({ id }, { phone }, tx) {
      await wantOpen(tx, id, phone ?? null)
      await raiseToken(tx, id)
      holder?.wakeIn(commitMs)
      return undefined
    },
    async logout({ id }, tx) {
      // From here on the holder writes nothing under its token, so that no key comes back after its deletion.
      await raiseToken(tx, id)
      await wantClosed(tx, id, await readCreds(tx, id))
      await deleteLogin(tx, id)
      holder?.wakeIn(commitMs)
    },
    async start(given) {
      if (!isInstalled()) return new AsyncDisposableStack()
      host = given
      holder = startHolder(app, given)
      return holder
    },
  }
}

// An open connection: matches the server's acks with the messages that wait for them.
import type { BinaryNode, WAMediaUploadFunction, WASocket } from 'baileys'
import type { App } from '../../core/app.ts'
import type { HeldLease } from './auth-state.ts'
import type { Host } from './host.ts'
import type { WhatsApp } from './package.ts'
import type { Receipts } from './receipts.ts'
import { noteRestriction } from './restriction.ts'
import { followStanding } from './standing.ts'
import { createUpload } from './upload.ts'

/**
 * The server's answer to a message: its error code, or undefined if it took the message and that is stored. `lost` if the connection closed, or
 * this process stopped, before that.
 */
export type Ack = { error?: string } | 'lost'

export interface Live {
  /** By `performance.now()`. */
  openedAt: number
  socket: WASocket
  whatsApp: WhatsApp
  upload: WAMediaUploadFunction
  /** Resolves with the server's answer about a stanza. Call it before the stanza is prepared. `messageId` is the gateway's id. */
  ackOf: (stanzaId: string, messageId: string) => Promise<Ack>
  /** Stops waiting for the answer about a stanza: it did not leave, or the answer takes too long. A late answer is reported as a receipt. */
  forget: (stanzaId: string) => void
  /** Waits, for a short time, for the acks of stanzas in progress. */
  drain: () => Promise<void>
  /** Tells everybody who waits that the connection is closed. */
  end: () => void
}

export interface LiveOptions {
  app: App
  whatsApp: WhatsApp
  host: Host
  lease: HeldLease
  socket: WASocket
  receipts: Receipts
}

const drainMs = 1_000

export function startLive({ app, whatsApp, host, lease, socket, receipts }: LiveOptions): Live {
  const waiting = new Map<string, (ack: Ack) => void>()
  socket.ws.on('CB:ack,class:message', async ({ attrs }: BinaryNode) => {
    const id = attrs.id as string
    const resolve = waiting.get(id)
    waiting.delete(id)
    // Stored first: a message that was settled before would stay `sending` if this process ended in between.
    const isStored = await receipts.acked(id, attrs.error, resolve !== undefined)
    if (resolve) resolve(isStored ? { error: attrs.error } : 'lost')
    // The sender has stopped to wait, so it does not note the refusal.
    else if (attrs.error) void noteRestriction(app, host, lease.instanceId, attrs.error)
  })
  const endStanding = followStanding({ app, host, instanceId: lease.instanceId, socket })
  return {
    openedAt: performance.now(),
    socket,
    whatsApp,
    upload: createUpload(socket, whatsApp),
    ackOf(stanzaId, messageId) {
      receipts.expect(stanzaId, messageId)
      const { promise, resolve } = Promise.withResolvers<Ack>()
      waiting.set(stanzaId, resolve)
      return promise
    },
    forget: (stanzaId) => void waiting.delete(stanzaId),
    async drain() {
      const giveUp = performance.now() + drainMs
      while (waiting.size > 0 && performance.now() < giveUp) await new Promise((resolve) => setTimeout(resolve, 20))
    },
    end() {
      endStanding()
      for (const resolve of waiting.values()) resolve('lost')
      waiting.clear()
    },
  }
}

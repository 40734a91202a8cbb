// Reports acks and receipts of one connection, in groups, until they are stored.
import { setTimeout as pause } from 'node:timers/promises'
import type { BinaryNode, WASocket } from 'baileys'
import type { App } from '../../core/app.ts'
import { untilStored } from '../../core/database/until-stored.ts'
import { retryAfterOf } from '../../core/errors.ts'
import { isConflict, isUnavailable } from '../../core/public-failure.ts'
import { timeOf } from '../given-values.ts'
import type { Receipt } from '../reports.ts'
import type { Host } from './host.ts'
import { refusal, tooMany } from './refusal.ts'

export interface ReceiptsOptions {
  app: App
  host: Host
  instanceId: string
}

export interface Receipts {
  /** Names a message that is about to leave, so that its receipts find it before the send is stored. `messageId` is the gateway's id. */
  expect: (stanzaId: string, messageId: string) => void
  /** The server took or refused a message. A refusal that its sender waits for is no receipt. Resolves as {@link Receipts.received}. */
  acked: (stanzaId: string, error: string | undefined, awaited: boolean) => Promise<boolean>
  /** Resolves with true once it is stored, or can never be; with false if this process stops before. Never rejects. */
  received: (stanza: BinaryNode) => Promise<boolean>
}

interface Report {
  receipts: readonly Receipt[]
  end: (isStored: boolean) => void
}

const retryMs = 1_000
/** Most messages whose ids are remembered. */
const mostRemembered = 2_000
/** Most receipts of one transaction: after a time without a connection, those of a whole campaign arrive at once. */
const mostStored = 500

/** Receipt types that say something of a message of ours. Without a type, it is delivered; `inactive` is delivered to an idle device. */
const statuses: Record<string, 'delivered' | 'read'> = { '': 'delivered', inactive: 'delivered', read: 'read', played: 'read' }

export function createReceipts({ app, host, instanceId }: ReceiptsOptions): Receipts {
  const messageIds = new Map<string, string>()
  let queue: Report[] = []
  let running = false

  async function add(...receipts: Receipt[]): Promise<boolean> {
    const { promise, resolve: end } = Promise.withResolvers<boolean>()
    queue.push({ receipts, end })
    if (!running) void store()
    return await promise
  }

  /** Takes the reports of the next transaction, at least one. */
  function next(): Report[] {
    let n = 0
    const end = queue.findIndex(({ receipts }) => {
      n += receipts.length
      return n > mostStored
    })
    return queue.splice(0, end < 0 ? queue.length : Math.max(1, end))
  }

  /** One transaction at a time, so that receipts are stored in their order and those that come meanwhile share the next one. */
  async function store(): Promise<void> {
    running = true
    while (queue.length > 0) {
      const group = next()
      const error = await report(group.flatMap(({ receipts }) => receipts)).catch((fault: Error) => fault)
      if (!error || app.stopping) {
        for (const { end } of group) end(!error)
        continue
      }
      app.log.warn({ instanceId, err: error.message }, 'receipts are stored later')
      queue = [...group, ...queue]
      await pause(retryMs, undefined, { ref: false })
    }
    running = false
  }

  /**
   * A receipt that cannot be stored is dropped, so that it does not hold up all later ones. @throws Error when the database is away or
   * busy: then the whole group is reported again, because repeated receipts change nothing.
   */
  async function report(group: readonly Receipt[]): Promise<void> {
    try {
      await host.receipts(group)
    } catch (error) {
      if (app.stopping || isUnavailable(error) || isConflict(error) || retryAfterOf(error) !== undefined) throw error
      if (group.length > 1) for (const receipt of group) await report([receipt])
      else app.log.warn({ instanceId, err: (error as Error).message }, 'a receipt that cannot be stored is dropped')
    }
  }

  /** True if the network has taken the message before: it now refuses a copy, which the package sent because its recipient asked for it again. */
  async function wasTaken(stanzaId: string): Promise<boolean> {
    // Its ack may wait to be stored.
    await add()
    const sent = await untilStored(app, () => host.sent(instanceId, stanzaId)).catch(() => undefined)
    return sent !== undefined
  }

  const about = (stanzaId: string) => ({ instanceId, messageId: messageIds.get(stanzaId), providerMessageId: stanzaId })

  return {
    expect(stanzaId, messageId) {
      messageIds.set(stanzaId, messageId)
      if (messageIds.size > mostRemembered) messageIds.delete(messageIds.keys().next().value as string)
    },
    async acked(stanzaId, error, awaited) {
      if (error === undefined) return await add({ ...about(stanzaId), status: 'sent', at: new Date() })
      // The network has taken nothing, so a message whose sender stopped to wait is tried again, as after no answer.
      if (awaited || error === tooMany || (await wasTaken(stanzaId))) return true
      return await add({ ...about(stanzaId), ...refusal(error), status: 'failed', at: new Date() })
    },
    async received({ attrs, content }) {
      const status = statuses[attrs.type ?? '']
      // `recipient` stands in receipts of the account's other devices.
      if (!status || !attrs.id || attrs.recipient || attrs.from?.endsWith('@g.us')) return true
      const items = Array.isArray(content) ? content.flatMap((node) => (Array.isArray(node.content) ? node.content : [])) : []
      const ids = [attrs.id, ...items.flatMap((item) => item.attrs.id ?? [])]
      const at = timeOf(attrs.t)
      return await add(...ids.map((id) => ({ ...about(id), status, at })))
    },
  }
}

/** Lets the package have each receipt, which it then confirms, once it is stored. Until then the network offers it again. */
export function confirmStored({ ws }: Pick<WASocket, 'ws'>, received: Receipts['received']): void {
  const event = 'CB:receipt'
  const [handle] = ws.listeners(event) as [(stanza: BinaryNode) => Promise<void>]
  ws.off(event, handle)
  ws.on(event, async (stanza: BinaryNode) => {
    if ((await received(stanza)) && ws.isOpen) await handle(stanza)
  })
}

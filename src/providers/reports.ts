// The reports of providers: receipts, messages that came in, and the state of an instance.
import type { Sql } from '../core/database/database.ts'
import type { MessageType } from '../generated/prisma/enums.ts'

export type ReceiptStatus = 'sent' | 'delivered' | 'read' | 'failed'

/** Status report on a message that the gateway sent, identified by our id or by the provider's. */
export interface Receipt {
  instanceId: string
  /** The gateway's own id of the message. */
  messageId?: string
  providerMessageId?: string
  status: ReceiptStatus
  at: Date
  error?: string
  /** The network's reason in its own words. */
  detail?: string
  /** True for a failure that says that the network restricts the account of the instance. */
  restricted?: boolean
}

/**
 * The effect of a receipt: `applied` if the message reached a new status, `duplicate` if it had it or cannot reach it any more, `unknown` if
 * no message was found. An unknown one is kept and applied again for two minutes, because it can overtake the answer to its send.
 */
export type ReceiptResult = 'applied' | 'duplicate' | 'unknown'

/** A file that came with a message. The network's own reference to it is all that a provider needs to fetch it. */
export interface InboundMedia {
  reference: string
  mimeType: string | null
  fileName: string | null
  /** Its address, if the network gives one that anybody can read. */
  url?: string
}

/** The kind of an inbound message on its network. */
export type InboundKind =
  | 'text'
  | 'image'
  | 'video'
  | 'audio'
  | 'voice_note'
  | 'document'
  | 'sticker'
  | 'location'
  | 'contact'
  | 'button'
  | 'list'
  | 'reaction'
  | 'system'
  | 'unsupported'

/** The parts of an inbound message besides its text and its file. */
export interface InboundContent {
  kind: InboundKind
  /** The button, list row or quick reply that was chosen; the text is its label. */
  buttonId?: string
  /** The provider's id of the message that this one answers, or to which it is a reaction. */
  replyTo?: string
  reactedTo?: string
  /** The coordinates, name and address of a location. */
  latitude?: number
  longitude?: number
  name?: string | null
  address?: string | null
  contacts?: { name: string; phone: string | null }[]
}

/** A message that came in. A kind that is no type of ours has the nearest one: a sticker is an `image`, a button a `text`, the rest `unknown`. */
export interface InboundMessage {
  instanceId: string
  providerMessageId: string
  /** The sender's number, E.164, or the network's own id where it gives no number. */
  from: string
  /** Other numbers to which messages were sent and that the network writes as that of the sender. */
  alsoKnownAs?: readonly string[]
  type: MessageType
  /** The text, the caption, or what stands for the content in a list. */
  body: string
  content: InboundContent
  media?: InboundMedia
  at: Date
}

export interface StateChange {
  instanceId: string
  /** Omitted if only the account's standing changes. */
  status?: 'connecting' | 'pairing' | 'connected' | 'disconnected' | 'logged_out'
  qr?: string | null
  pairingCode?: string | null
  waNumber?: string
  error?: string | null
  /** The network restricts the account, or says that it is close to that. Both count for a while after the last report. */
  restricted?: boolean
  atRisk?: boolean
  /** Milliseconds from now until the restriction ends, if the network says so: both count from then. */
  lastsMs?: number
  /** Most different recipients in 24 hours that the network allows; {@link noDailyBound} if it allows any number. */
  dailyRecipients?: number
  /** Details of the account, which replace the stored ones. */
  meta?: Record<string, string | null>
}

/** The largest number that a field of the graph can have. */
export const noDailyBound = 2 ** 31 - 1

/** Receives what a provider reports. Each call resolves when the report is committed, so that the provider can discard it. */
export interface Reports {
  /** Returns the effect of each, in order. */
  receipts: (receipts: readonly Receipt[]) => Promise<readonly ReceiptResult[]>
  /** Returns for each, in order, true if it is new. */
  inbound: (messages: readonly InboundMessage[]) => Promise<readonly boolean[]>
  /**
   * For messages of many accounts. Stores none that would wait because another transaction deletes its contact, and returns those. They are
   * reported again later, so that one account delays no other.
   */
  inboundAtOnce: (messages: readonly InboundMessage[]) => Promise<readonly InboundMessage[]>
  /** Runs in the provider's own transaction `tx`, if it has one. */
  state: (change: StateChange, tx?: Sql) => Promise<void>
}

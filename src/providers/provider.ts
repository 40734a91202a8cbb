// Interface of a messaging network (provider), and the reports that it sends back.
import type { Sql } from '../core/database/database.ts'
import type { MessageType } from '../generated/prisma/enums.ts'

export type ProviderName = 'sandbox' | 'cloud' | 'web'

/** The part of an instance that a provider sees. */
export interface ProviderInstance {
  id: string
  waNumber: string | null
  settings: Record<string, unknown>
}

/** Messages of other types only come in. */
export type OutgoingType = Exclude<MessageType, 'unknown'>

/** The data of a message besides `body` and `mediaUrl`, by type. Types that are not listed have none. */
export interface ContentByType {
  location: { kind: 'location'; latitude: number; longitude: number; name: string | null; address: string | null }
  contact: { kind: 'contact'; name: string; phone: string }
  buttons: {
    kind: 'buttons'
    title: string | null
    footer: string | null
    buttons: { type: 'reply'; displayText: string; id: string }[]
  }
}

export type OutgoingContent = ContentByType[keyof ContentByType]
export type ContentOf<Type extends OutgoingType> = Type extends keyof ContentByType ? ContentByType[Type] : null

interface OutgoingOf<Type extends OutgoingType> {
  /** The gateway's own id, and the same on every attempt. */
  reference: string
  to: string
  type: Type
  /** The text, the caption, or what stands for the content in a list. */
  body: string
  mediaUrl: string | null
  content: ContentOf<Type>
}

/** An outgoing message. Its `type` says what its `content` is. */
export type OutgoingMessage = { [Type in OutgoingType]: OutgoingOf<Type> }[OutgoingType]

/** Outcome of an attempt to send. With `unknown`, the provider may have accepted the message, so it must not be sent again blindly. */
export type SendOutcome =
  | { outcome: 'accepted'; providerMessageId: string }
  | { outcome: 'refused'; error: string; restricted?: boolean }
  | { outcome: 'retry'; error: string; afterMs?: number }
  | { outcome: 'unknown'; error: string }

export type ReceiptStatus = 'sent' | 'delivered' | 'read' | 'failed'

/** Status report on a message that the gateway sent, identified by our reference or by the provider's id. */
export interface Receipt {
  instanceId: string
  reference?: string
  providerMessageId?: string
  status: ReceiptStatus
  at: Date
  error?: string
}

export interface InboundMessage {
  instanceId: string
  providerMessageId: string
  from: string
  type: string
  body: string
  at: Date
}

export interface StateChange {
  instanceId: string
  /** Omitted if only `restricted` changes. */
  status?: 'connecting' | 'pairing' | 'connected' | 'disconnected' | 'logged_out'
  qr?: string | null
  pairingCode?: string | null
  waNumber?: string
  error?: string | null
  restricted?: boolean
}

/** Receives the reports of providers. Each call resolves when the report is committed, so that the provider can discard it. */
export interface ProviderEvents {
  receipts: (receipts: readonly Receipt[]) => Promise<void>
  inbound: (messages: readonly InboundMessage[]) => Promise<void>
  /** Runs in the provider's own transaction `tx`, if it has one. */
  state: (change: StateChange, tx?: Sql) => Promise<void>
}

export interface Provider {
  name: ProviderName
  /** True if the network deduplicates messages by `reference`, so that an attempt with an unknown outcome may be repeated. */
  sendsOnce: (instance: ProviderInstance) => boolean
  /** How long, in milliseconds, a receipt may still report the outcome of a send whose response was lost. */
  reconcileMs: number
  /**
   * Starts to connect; returns the state change that applies at once, if any. `tx` is the transaction that changes the instance,
   * and it may roll back.
   */
  connect: (
    instance: ProviderInstance,
    options: { phone?: string },
    tx: Sql,
  ) => Promise<Omit<StateChange, 'instanceId'> | undefined>
  logout: (instance: ProviderInstance, tx: Sql) => Promise<void>
  send: (instance: ProviderInstance, message: OutgoingMessage) => Promise<SendOutcome>
  /** Returns for each number true if it is on the network, or null if the provider cannot tell. */
  lookup: (instance: ProviderInstance, numbers: readonly string[]) => Promise<(boolean | null)[]>
  /** Starts to report; only processes with the worker role call it. */
  start: (events: ProviderEvents) => Promise<AsyncDisposable>
}

export type Providers = ReadonlyMap<ProviderName, Provider>

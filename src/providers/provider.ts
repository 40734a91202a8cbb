// What a messaging network must be able to do for the gateway, and what it tells back.
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'

export type ProviderName = 'sandbox' | 'cloud' | 'web'

/** The instance as a provider sees it. */
export interface ProviderInstance {
  id: string
  waNumber: string | null
  settings: Record<string, unknown>
}

/** A message on its way out. `reference` is ours and the same on every try. */
export interface OutgoingMessage {
  reference: string
  to: string
  type: string
  body: string
  mediaUrl: string | null
  content: unknown
}

/** What came of offering a message. `unknown`: it may or may not have been taken, and must not be offered again blindly. */
export type SendOutcome =
  | { outcome: 'accepted'; providerMessageId: string }
  | { outcome: 'refused'; error: string; restricted?: boolean }
  | { outcome: 'retry'; error: string; afterMs?: number }
  | { outcome: 'unknown'; error: string }

export type ReceiptStatus = 'sent' | 'delivered' | 'read' | 'failed'

/** News of a message we sent, addressed by our reference or by the provider's id. */
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
  /** Left out where only `restricted` is news. */
  status?: 'connecting' | 'pairing' | 'connected' | 'disconnected' | 'logged_out'
  qr?: string | null
  pairingCode?: string | null
  waNumber?: string
  error?: string | null
  restricted?: boolean
}

/** Where providers report to. Each resolves when the news is committed, so that a provider can forget it. */
export interface ProviderEvents {
  receipts: (receipts: readonly Receipt[]) => Promise<void>
  inbound: (messages: readonly InboundMessage[]) => Promise<void>
  /** In the provider's own transaction, where it has one. */
  state: (change: StateChange, tx?: Sql) => Promise<void>
}

export interface Provider {
  name: ProviderName
  /** Whether offering a message twice under one reference makes one message, so that an unknown outcome may be offered again. */
  sendsOnce: (instance: ProviderInstance) => boolean
  /** How long after a send whose answer was lost a receipt may still tell what became of it. */
  reconcileMs: number
  /** Begins to connect; answers what is so at once, if anything is. `tx` is the transaction that changes the instance, and may not commit. */
  connect: (
    instance: ProviderInstance,
    options: { phone?: string },
    tx: Sql,
  ) => Promise<Omit<StateChange, 'instanceId'> | undefined>
  logout: (instance: ProviderInstance, tx: Sql) => Promise<void>
  send: (instance: ProviderInstance, message: OutgoingMessage) => Promise<SendOutcome>
  /** Whether each number is on the network; null where the provider cannot tell. */
  lookup: (instance: ProviderInstance, numbers: readonly string[]) => Promise<(boolean | null)[]>
  /** Begins to report; only processes with the worker role do. */
  start: (events: ProviderEvents) => Promise<AsyncDisposable>
}

export type Providers = ReadonlyMap<ProviderName, Provider>

declare module '../core/app.ts' {
  interface App {
    providers: Providers
  }
}

/** The provider of an instance; undefined for one that this build does not have. */
export function providerOf(app: Pick<App, 'providers'>, name: ProviderName): Provider | undefined {
  return app.providers.get(name)
}

// Contract with a messaging network (provider): what it is handed, and what it reports. defineProvider implements it.
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Sql } from '../core/database/database.ts'
import type { MessageType, ProviderName } from '../generated/prisma/enums.ts'
import type { ChangedSettings, StoredSettings } from './settings.ts'

export type { ProviderName }

/** An instance as the gateway stores it. */
export interface StoredInstance extends StoredSettings {
  id: string
  waNumber: string | null
}

/** An instance as its provider sees it: the secret settings are among the others, decrypted. */
export interface ProviderInstance<Settings> {
  id: string
  waNumber: string | null
  settings: Settings
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

/** A template that the network approved, with its values filled in. Networks without such templates send `body`. */
export interface ApprovedTemplate {
  name: string
  language: string
  parameters: readonly string[]
  /** The network's names of the parameters, in the same order, if it tells them apart by name and not by position. */
  names?: readonly string[]
}

/** A template that the network approved, to be imported. `unfit` says in words why it cannot be. */
export type NetworkTemplate = { name: string; language: string } & (
  | {
      /** The text, with `{{custom.1}}` or `{{custom.order}}` for its parameters. */
      body: string
      /** The names of those values, in the order of the parameters: `custom.1`. */
      parameters: string[]
      names?: string[]
    }
  | { unfit: string }
)

interface OutgoingOf<Type extends OutgoingType> {
  /** The gateway's own id, and the same on every attempt. */
  reference: string
  /** The number of this attempt, from 1. Those that waited because the network asked for it are not counted. */
  attempt?: number
  to: string
  type: Type
  /** The text, the caption, or what stands for the content in a list. */
  body: string
  mediaUrl: string | null
  content: ContentOf<Type>
  template: ApprovedTemplate | null
}

/** An outgoing message. Its `type` says what its `content` is. */
export type OutgoingMessage = { [Type in OutgoingType]: OutgoingOf<Type> }[OutgoingType]

/** The messages that wait with one that is to be tried later: those to the same recipient, of the same instance, or of the account. */
export type Hold = { of: 'recipient' } | { of: 'instance' } | { of: 'account'; account: string }

/**
 * Outcome of an attempt to send. With `unknown`, the provider may have accepted the message, so it must not be sent again blindly. With
 * `offline`, the connection was gone before the message could be handed over; with `holds`, the network asked to wait. Neither counts as an
 * attempt, and the message is tried until it expires. `detail` is the network's reason in its own words.
 */
export type SendOutcome =
  | { outcome: 'accepted'; providerMessageId: string }
  | { outcome: 'refused'; error: string; detail?: string; restricted?: boolean }
  | { outcome: 'retry'; error: string; detail?: string; afterMs?: number; offline?: boolean; holds?: Hold }
  | { outcome: 'unknown'; error: string; detail?: string }

/** Error of a message whose recipient told the network that no messages are wanted. The gateway writes to that number no more. */
export const optedOut = 'OPTED_OUT'

export type ReceiptStatus = 'sent' | 'delivered' | 'read' | 'failed'

/** Status report on a message that the gateway sent, identified by our reference or by the provider's id. */
export interface Receipt {
  instanceId: string
  reference?: string
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

/** What a message that came in is, for its network. */
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
  /** Of a place. */
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
  /** Most different recipients in 24 hours that the network allows; {@link noDailyBound} if it allows any number. */
  dailyRecipients?: number
  /** Details of the account, in place of the former ones. */
  meta?: Record<string, string | null>
}

/** The file of an inbound message, as its network gives it. With `refused` it never will; with `retry` it may be asked again. */
export type FetchedMedia =
  | { outcome: 'fetched'; bytes: AsyncIterable<Uint8Array> }
  | { outcome: 'refused' | 'retry'; detail: string }

/** Outcome of a network call whose message stays as it is. With `retry`, the call is made again later. */
export type MarkedRead = { outcome: 'done' } | { outcome: 'refused' | 'retry'; detail: string }

/** The largest number that a field of the graph can have. */
export const noDailyBound = 2 ** 31 - 1

/** Receives what a provider reports. Each call resolves when the report is committed, so that the provider can discard it. */
export interface Reports {
  /** Returns the effect of each, in order. */
  receipts: (receipts: readonly Receipt[]) => Promise<readonly ReceiptResult[]>
  /** Returns for each, in order, true if it is new. */
  inbound: (messages: readonly InboundMessage[]) => Promise<readonly boolean[]>
  /** Runs in the provider's own transaction `tx`, if it has one. */
  state: (change: StateChange, tx?: Sql) => Promise<void>
}

/**
 * The gateway, as a provider sees it. `Known` is an instance whose secrets may be missing: a logout erased them, or they cannot be
 * decrypted with this SECRET_KEY.
 */
export interface ProviderHost<Known> extends Reports {
  /** Finds an instance of this provider. Deleted ones are not found. */
  instance: (id: string) => Promise<Known | undefined>
  /** The other instances of this provider in the workspace of this one whose setting `name`, which must not be secret, has that value. */
  siblings: (id: string, name: string, value: string) => Promise<Known[]>
  /** Finds the file behind a media address of this gateway; null if there is none, undefined for every other address. */
  file: (url: string) => Promise<StoredFile | null | undefined>
}

/** A file in the gateway's store. */
export interface StoredFile {
  id: string
  mimeType: string
  /** In bytes. */
  size: number
  extension: string
  /** Opens it; undefined if it was deleted. The stream must be read or destroyed. */
  open: () => Promise<Readable | undefined>
}

export interface ProviderRequest {
  /** Values of the parameters in the route's path. */
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  headers: IncomingHttpHeaders
  /** The bytes as they were sent, which a signature covers. Empty without a body. */
  body: Buffer
}

export interface ProviderAnswer {
  status: number
  /** `text/plain` by default. */
  type?: string
  body?: string
}

export interface ProviderRoute<Known> {
  method: 'GET' | 'POST'
  /** Below `/providers/{name}`, with parameters as in `/:instanceId`. */
  path: `/${string}`
  /** Longest body, in bytes; 1 MiB by default. */
  maxBodyBytes?: number
  /** Limit on the values of a JSON body, by which the memory for it is reserved; `ordinary` by default. */
  values?: 'ordinary' | 'bulk'
  /** Everything thrown is answered in the error envelope: `fail('UNAUTHORIZED', …)` with 401, an unforeseen error with 500. */
  answer: (request: ProviderRequest, host: ProviderHost<Known>) => Promise<ProviderAnswer>
}

/** Calls to one network, in this process. `Instance` has all of its settings; for `Known` see {@link ProviderHost}. */
export interface Connector<Instance, Known> {
  /** False if a package that the provider needs is missing on this server; without this function it needs none. */
  installed?: () => boolean
  /**
   * True if the network deduplicates messages by `reference`, so that an attempt with an unknown outcome may be repeated. Each claim of
   * a message calls it, so the secrets are not decrypted for it.
   */
  sendsOnce: (instance: Known) => boolean
  /** How long, in milliseconds, a receipt may still report the outcome of a send whose response was lost. */
  reconcileMs: number
  /**
   * Starts to connect; returns the state change that applies at once, if any. `tx` is the transaction that changes the instance,
   * and it may roll back.
   */
  connect: (instance: Instance, options: { phone?: string }, tx: Sql) => Promise<Omit<StateChange, 'instanceId'> | undefined>
  /** Ends the connection, also before the instance is deleted. The gateway erases the secrets. */
  logout: (instance: Known, tx: Sql) => Promise<void>
  send: (instance: Instance, message: OutgoingMessage) => Promise<SendOutcome>
  /** Returns for each number true if it is on the network, or null if the provider cannot tell. */
  lookup: (instance: Instance, numbers: readonly string[]) => Promise<(boolean | null)[]>
  /**
   * For a network with one live connection for each instance: true if this process holds it. Only the holder sends; the table
   * `instance_leases` says which process that is. Without this function every process can send for every instance.
   */
  holds?: (instanceId: string) => boolean
  /**
   * Gets the file of an inbound message, which the gateway then checks and keeps. Any process may call it. It ends when `signal` aborts.
   * Networks whose files all have a public address do not need it.
   */
  fetchMedia?: (instance: Instance, media: InboundMedia, signal: AbortSignal) => Promise<FetchedMedia>
  /** Tells the network that an inbound message was read. Any process may call it. */
  markRead?: (instance: Instance, message: { providerMessageId: string; from: string }) => Promise<MarkedRead>
  /**
   * Says what a file must be that a message of the type cannot have on this network, as words that follow the name of a field. Asked when
   * a message is accepted whose file is in our store.
   */
  faultOfFile?: (type: OutgoingType, mimeType: string) => string | undefined
  /**
   * The account that a hold of an account names, for networks that limit several instances together; null without one. Each claim of a
   * message calls it, so the secrets are not decrypted for it.
   */
  accountOf?: (instance: Known) => string | null
  /**
   * Reads all templates that the network approved for the account. A message from a template that stands for one of them is handed over with
   * `template`; without this function, every message is handed over as what it shows. @throws PROVIDER_ERROR in words.
   */
  approvedTemplates?: (instance: Instance) => Promise<NetworkTemplate[]>
  /** Asks the network about the account, for the operator. Returns what it says in words. @throws a sentence when it cannot be used. */
  check?: (instance: Instance) => Promise<string>
  /** For a network that takes anything but approved templates only this long, in milliseconds, after the recipient's last message. */
  freeContentMs?: number
  /** The token with which the network verifies the address of its callbacks, for people who set that address by hand. */
  verifyToken?: (instance: Known) => string | undefined
  /** Starts to report; only processes with the worker role call it. */
  start: (host: ProviderHost<Known>) => Promise<AsyncDisposable>
  /** HTTP routes that the network calls; processes with the http role serve them. */
  routes?: readonly ProviderRoute<Known>[]
}

/** A provider as the gateway calls it: it takes instances as they are stored. */
export interface Provider extends Connector<StoredInstance, StoredInstance> {
  name: ProviderName
  /** The setting that names the account at the network, of which a workspace has one instance. */
  identity: string | undefined
  /** Validates the settings of a new instance, and encrypts the secret ones. @throws VALIDATION_ERROR that names each wrong setting. */
  storeSettings: (given: unknown) => StoredSettings
  /** Changes some settings in place. @throws VALIDATION_ERROR that names each setting that is wrong or cannot be changed. */
  changeSettings: (stored: StoredSettings, given: Readonly<Record<string, unknown>>) => ChangedSettings
  /** The secrets that outlive a logout, encrypted. */
  secretsAfterLogout: (stored: StoredSettings) => StoredSettings['credentials']
}

export type Providers = ReadonlyMap<ProviderName, Provider>

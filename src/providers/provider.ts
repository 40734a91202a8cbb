// Contract with a messaging network (provider): its calls, and the gateway as it sees it. defineProvider implements it.
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Sql } from '../core/database/database.ts'
import type { ProviderName } from '../generated/prisma/enums.ts'
import type { NetworkTemplate, OutgoingMessage, OutgoingType, SendOutcome } from './outgoing.ts'
import type { InboundMedia, Reports, StateChange } from './reports.ts'
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

/** The file of an inbound message, as its network gives it. With `refused` it never will; with `retry` it may be asked again. */
export type FetchedMedia =
  | { outcome: 'fetched'; bytes: AsyncIterable<Uint8Array> }
  | { outcome: 'refused' | 'retry'; detail: string }

/** The network refused the login of the instance, for the reason in words. Nothing can be done for the instance before it changes. */
export interface RefusedLogin {
  refusedLogin: string
}

/** A message that is about to be deleted. */
export interface DeletedMessage {
  id: string
  instanceId: string
  /** Its recipient; for one that came in, the number of the instance. */
  to: string
  /** When its network took it, or else when it last changed. */
  leftAt: Date
}

/** Outcome of a network call whose message stays as it is. With `retry`, the call is made again later. */
export type MarkedRead = { outcome: 'done' } | { outcome: 'refused' | 'retry'; detail: string }

/**
 * The gateway, as a provider sees it. `Known` is an instance whose secrets may be missing: a logout erased them, or they cannot be
 * decrypted with this SECRET_KEY.
 */
export interface ProviderHost<Known> extends Reports {
  /** Finds an instance of this provider, in the provider's own transaction `tx` if it has one. Deleted ones are not found. */
  instance: (id: string, tx?: Sql) => Promise<Known | undefined>
  /** The other instances of this provider in the workspace of this one whose setting `name`, which must not be secret, has that value. */
  siblings: (id: string, name: string, value: string) => Promise<Known[]>
  /** A message that an instance sent, by the provider's id; undefined if it is not stored any more. */
  sent: (instanceId: string, providerMessageId: string) => Promise<OutgoingMessage | undefined>
  /** True if a message came in from the network under this id of the provider's. */
  received: (instanceId: string, providerMessageId: string) => Promise<boolean>
  /** Reports that this process can send for the instance from now on. Messages that wait for that are sent. */
  ready: (instanceId: string) => void
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

export type LinkedStatus = 'connecting' | 'connected' | 'disconnected'

/** Calls to one network, in this process. `Instance` has all of its settings; for `Known` see {@link ProviderHost}. */
export interface Connector<Instance, Known> {
  /** False if a package that the provider needs is missing on this server; without this function it needs none. */
  installed?: () => boolean
  /**
   * True if the network deduplicates messages by our id, so that an attempt with an unknown outcome may be repeated. Each claim of
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
  /**
   * Shows a code for the phone with this number in place of what `connect` began to show. Returns false if nothing changes, because it shows
   * that code already or needs none. Networks without such codes leave it out.
   */
  pairByCode?: (instance: Known, phone: string, tx: Sql) => Promise<boolean>
  /**
   * The settings of an instance that has been connected, or is about to be, were changed. `tx` is the transaction that changes them. A
   * network that reads the settings at each call does not need it.
   */
  changed?: (before: Known, after: Instance, status: LinkedStatus, tx: Sql) => Promise<void>
  /** Ends the connection, also before the instance is deleted. The gateway erases the secrets. */
  logout: (instance: Known, tx: Sql) => Promise<void>
  send: (instance: Instance, message: OutgoingMessage) => Promise<SendOutcome>
  /** Returns for each number true if it is on the network, or null if the provider cannot tell. */
  lookup: (instance: Instance, numbers: readonly string[]) => Promise<(boolean | null)[]>
  /**
   * For a network with one live connection for each instance: true while it is open in this process. Only the holder sends; the table
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
   * `template`; without this function, every message is handed over as what it shows. Any process may call it. @throws PROVIDER_ERROR in
   * words.
   */
  approvedTemplates?: (instance: Instance) => Promise<NetworkTemplate[] | RefusedLogin>
  /** Asks the network about the account, for the operator. Returns what it says in words. @throws a sentence when it cannot be used. */
  check?: (instance: Instance) => Promise<string>
  /** For a network that takes anything but approved templates only this long, in milliseconds, after the recipient's last message. */
  freeContentMs?: number
  /** For each number to which messages were sent, the one that the network writes in its place, if it has other digits. */
  addressesOf?: (sql: Sql, numbers: readonly { instanceId: string; phone: string }[]) => Promise<(string | null)[]>
  /** The token with which the network verifies the address of its callbacks, for people who set that address by hand. */
  verifyToken?: (instance: Known) => string | undefined
  /** Erases what the provider's own tables hold of messages that are about to be deleted. */
  forget?: (messages: readonly DeletedMessage[], tx: Sql) => Promise<void>
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
  /**
   * Validates the settings of a new instance, and encrypts the secret ones. Null is one that is left out. @throws VALIDATION_ERROR that
   * names each wrong setting.
   */
  storeSettings: (given: Readonly<Record<string, unknown>>) => StoredSettings
  /** Changes some settings in place. @throws VALIDATION_ERROR that names each setting that is wrong or cannot be changed. */
  changeSettings: (stored: StoredSettings, given: Readonly<Record<string, unknown>>) => ChangedSettings
  /** The secrets that outlive a logout, encrypted. */
  secretsAfterLogout: (stored: StoredSettings) => StoredSettings['credentials']
}

export type Providers = ReadonlyMap<ProviderName, Provider>

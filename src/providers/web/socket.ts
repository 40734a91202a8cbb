// Opens one connection of WhatsApp Web. Every frame that leaves is checked against the lease.
import type { proto, WAMessageKey, WASocket } from 'baileys'
import type { App } from '../../core/app.ts'
import { keepArrivalOrder } from './arrival-order.ts'
import { type HeldLease, isPaired, type Login } from './auth-state.ts'
import type { Closed } from './closing.ts'
import { silent, type WhatsApp } from './package.ts'
import { confirmStored, type Receipts } from './receipts.ts'
import { storeEachStep } from './session-steps.ts'
import { type InboundStore, noteStanza, storeFirst, storeUnseen, type Transactional } from './store-first.ts'
import { timing } from './timing.ts'
import { version } from './version.ts'

export interface SocketOptions {
  lease: HeldLease
  login: Pick<Login, 'creds' | 'keys' | 'save'>
  inbound: InboundStore
  /** Stores each receipt, also those that come before the login is complete. Without it, receipts are confirmed and not stored. */
  received?: Receipts['received']
  /** The content of a message that was sent, for a recipient that could not decrypt it. */
  sentContent: (key: WAMessageKey) => Promise<proto.IMessage | undefined>
  onQr: (qr: string, socket: WASocket) => void
  onOpen: (socket: WASocket) => void
}

export interface OpenSocket {
  socket: WASocket
  closed: Promise<Closed>
  /** Closes it; resolves when the network has seen it or the connection is cut. */
  close: () => Promise<void>
  /** Cuts it at once. */
  cut: () => void
}

/** Longest wait for the network's answer to our close. */
const closeMs = 500

export function openSocket(app: App, whatsApp: WhatsApp, options: SocketOptions): OpenSocket {
  const { login, lease } = options
  const { socketUrl } = app.config.web
  const reported = version(app).present()
  const makeRepository = whatsApp.DEFAULT_CONNECTION_CONFIG.makeSignalRepository
  const socket = whatsApp.makeWASocket({
    auth: { creds: login.creds, keys: login.keys },
    ...(socketUrl ? { waWebSocketUrl: socketUrl } : {}),
    ...(reported ? { version: reported } : {}),
    logger: silent,
    keepAliveIntervalMs: timing(app).keepAliveMs,
    browser: whatsApp.Browsers.ubuntu('Chrome'),
    // The phone stops to notify its owner while another device is online.
    markOnlineOnConnect: false,
    syncFullHistory: false,
    emitOwnEvents: false,
    shouldIgnoreJid: (jid) => isLeftAlone(jid),
    getMessage: options.sentContent,
    transactionOpts: { maxCommitRetries: 3, delayBetweenTriesMs: 500 },
    qrTimeout: timing(app).qrMs,
    makeSignalRepository(auth, logger, phonesToLids) {
      const repository = storeFirst(whatsApp, makeRepository(auth, logger, phonesToLids), options.inbound)
      return storeEachStep(repository, auth.keys as Transactional)
    },
  })
  guard(socket, lease)
  closeSoon(socket)
  keepArrivalOrder(socket, (stanza) => storeUnseen(stanza, socket.signalRepository, options.inbound))
  socket.ws.prependListener('CB:message', noteStanza)
  if (options.received) confirmStored(socket, options.received)
  let shown = false
  let opened = false
  socket.ws.once('open', () => {
    opened = true
  })
  const closed = Promise.withResolvers<Closed>()
  socket.ev.on('creds.update', () => {
    // After a failed save the next one repeats it, or the next start uses the login as it was.
    login.save().catch((err: Error) => app.log.warn({ instanceId: lease.instanceId, err: err.message }, 'a login was not saved'))
  })
  socket.ev.on('connection.update', ({ qr, connection, lastDisconnect }) => {
    if (qr) {
      shown = true
      options.onQr(qr, socket)
    }
    if (connection === 'open') options.onOpen(socket)
    if (connection !== 'close') return
    const error = lastDisconnect?.error as Fault | undefined
    const unreached = error && !opened ? causeOf(error) : undefined
    const paired = isPaired(login.creds)
    const { output, message = '', data } = error ?? {}
    closed.resolve({ code: output?.statusCode, message, data, paired, shown, unreached })
  })
  return { socket, closed: closed.promise, close: () => socket.end(undefined), cut: () => innerOf(socket)?.terminate() }
}

/** An error of the package. */
type Fault = Error & { output?: { statusCode?: number }; data?: unknown }

/** The package gives 408 for every failure of the system, whose own code says more. */
function causeOf({ data, output, message }: Fault): string {
  const { code } = (data ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : String(output?.statusCode ?? message)
}

/** Groups, channels and status posts. */
export function isLeftAlone(jid: string): boolean {
  return /^status@broadcast$|@(g\.us|newsletter|call|bot)$/.test(jid)
}

/** A process that was suspended may send a frame before it learns that its lease is over. The check stands where the bytes leave. */
function guard(socket: WASocket, lease: HeldLease): void {
  const inner = innerOf(socket) as Inner
  const send = inner.send.bind(inner)
  inner.send = (bytes, done) => {
    if (lease.isHeld()) return send(bytes, done)
    // Taken for written: the message waits for its ack, which the end of the connection ends.
    inner.terminate()
    if (typeof done === 'function') done()
  }
}

interface Inner {
  send: (...args: unknown[]) => void
  terminate: () => void
}

/** The connection below the package's own object; null once it is closed. */
function innerOf(socket: WASocket): Inner | null {
  return Reflect.get(socket.ws, 'socket') as Inner | null
}

/** A network that is gone does not answer, and the package would wait 30 s before it reports that the connection is closed. */
function closeSoon(socket: WASocket): void {
  const { ws } = socket
  const close = ws.close.bind(ws)
  ws.close = async () => {
    const inner = innerOf(socket)
    const timer = setTimeout(() => inner?.terminate(), closeMs)
    await close()
    clearTimeout(timer)
  }
}

// One instance whose lease this process holds: keeps its connection open, and reports how that goes.
import { setTimeout as pause } from 'node:timers/promises'
import type { WASocket } from 'baileys'
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { untilStored } from '../../core/database/until-stored.ts'
import type { StateChange } from '../reports.ts'
import { userOf } from './address.ts'
import { type HeldLease, isPaired, type Login } from './auth-state.ts'
import { type Action, actionFor, contested, reconnectDelayMs } from './closing.ts'
import type { Host } from './host.ts'
import { receiveFrom } from './inbound.ts'
import { deleteLogin } from './keys.sql.ts'
import { giveUpToken, LeaseLost, lockLease } from './leases.sql.ts'
import { type Live, startLive } from './live.ts'
import { markRead } from './mark-read.ts'
import { createPacer, type Pacer } from './pace.ts'
import { loadWhatsApp, type WhatsApp } from './package.ts'
import { type LoginOptions, readableLogin } from './readable-login.ts'
import { createReceipts } from './receipts.ts'
import { removeDevices } from './removal.ts'
import { reportState } from './report-state.ts'
import { sentContent } from './resend.ts'
import { readSession, wait, wantClosed } from './sessions.sql.ts'
import { type OpenSocket, openSocket } from './socket.ts'
import { timing } from './timing.ts'
import { version } from './version.ts'

export interface Session {
  lease: HeldLease & { heldUntil: number }
  /** The open connection; undefined while there is none, and from the moment at which it is to be closed. */
  live: () => Live | undefined
  pacer: Pacer
  /** Closes the connection, and resolves when it is closed. */
  close: () => Promise<void>
  /** Cuts the connection at once, because the lease is over. */
  cut: () => void
  isClosing: () => boolean
  /** Resolves when nothing is left to do under this lease: it is closed, or no connection is wanted any more. */
  finished: Promise<void>
}

export interface SessionOptions {
  app: App
  host: Host
  lease: Session['lease']
  /** Runs the start of a connection, with few others at the same time. */
  inTurn: (open: () => Promise<void>) => Promise<void>
}

/** So many attempts follow when the network refuses the version of the client. */
const mostRenewals = 3
/** After so many replacements in this time by another connection with the same login, the session ends: it would fight for ever. */
const mostReplacements = 3
const replacementsMs = 600_000
/** Longest time that the login of one connection holds back others. */
const loginMs = 5_000

export function startSession({ app, host, lease, inTurn }: SessionOptions): Session {
  const { instanceId } = lease
  const ending = new AbortController()
  let open: OpenSocket | undefined
  let live: Live | undefined
  const finished = run().catch(async (error: Error) => {
    if (ending.signal.aborted || error instanceof LeaseLost) return
    app.log.warn({ instanceId, err: error.message }, 'a connection of WhatsApp Web failed')
    // It would most likely fail again, here or in another process.
    await pause(timing(app).reconnectMs, undefined, { signal: ending.signal }).catch(() => {})
  })

  async function run(): Promise<void> {
    const whatsApp = await loadWhatsApp(app)
    const wanted = await readSession(app.pool, instanceId)
    if (!wanted) return
    const opened = wanted.open && wanted.waitMs <= 0 ? stayOpen(whatsApp, wanted.phone) : undefined
    await removeDevices({ app, whatsApp, lease, signal: ending.signal }, wanted, opened)
  }

  /** Keeps a connection open until none is wanted any more. */
  async function stayOpen(whatsApp: WhatsApp, phone: string | null): Promise<void> {
    const options = { app, host, whatsApp, lease, signal: ending.signal }
    let login = await readableLogin(options)
    const tries = { failed: 0, renewed: 0, restarted: false }
    while (!ending.signal.aborted) {
      const closed = await (await inTurnOnce(options, login, phone))?.closed
      if (!closed) return
      // A connection that closes soon after it opened has failed too.
      if (endLive() > reconnectDelayMs(tries.failed, timing(app).reconnectMs))
        Object.assign(tries, { failed: 0, renewed: 0, restarted: false })
      if (!(await store(login))) return
      const action = actionFor(closed, tries.restarted)
      tries.restarted ||= action.do === 'restart' && !closed.shown
      if (!(await comply(action, tries))) return
      // A code that nobody used leaves traces in the credentials, with which the network would refuse the next connection.
      if (!isPaired(login.creds)) login = await readableLogin(options)
      codeFor = undefined
      await rest(action, tries)
    }
  }

  /** The delay before the next connection, after a failure (exponential backoff). */
  async function rest({ do: what }: Action, tries: { failed: number }): Promise<void> {
    if (what !== 'retry' && what !== 'renew') return
    await pause(reconnectDelayMs(tries.failed++, timing(app).reconnectMs), undefined, { signal: ending.signal })
  }

  /** Stores the login. Returns false if this process is not to connect again. */
  async function store(login: Login): Promise<boolean> {
    if (!lease.isHeld()) return false
    // The phone may have just confirmed the pairing: without the database it waits. The next holder gets it too.
    await untilStored(app, () => login.save())
    return !ending.signal.aborted
  }

  /** Ends the work on the open connection. Returns the milliseconds that it was open; 0 if none was. */
  function endLive(): number {
    const openMs = live ? performance.now() - live.openedAt : 0
    live?.end()
    live = undefined
    told = undefined
    return openMs
  }

  /** As {@link settle}. If the network refuses this version of the protocol, the next connection uses the present one. */
  async function comply(action: Action, tries: { renewed: number }): Promise<boolean> {
    if (action.do !== 'renew' || tries.renewed++ >= mostRenewals) return await settle(action)
    await reportState({ app, host, lease }, { status: 'disconnected', error: action.error })
    await version(app).renew()
    return true
  }

  /** Opens a connection and resolves once it has logged in, failed, or shown a code. */
  async function inTurnOnce(options: LoginOptions, login: Login, phone: string | null) {
    const { whatsApp } = options
    let opened: OpenSocket | undefined
    await inTurn(async () => {
      if (ending.signal.aborted || !lease.isHeld()) return
      const settled = Promise.withResolvers<void>()
      const receipts = createReceipts({ app, host, instanceId })
      opened = openSocket(app, whatsApp, {
        lease,
        login,
        inbound: receiveFrom({
          ...options,
          isOwn: (jid) => [login.creds.me?.id, login.creds.me?.lid].some((own) => own && whatsApp.areJidsSameUser(own, jid)),
          markRead: (from, stanzaId) => settled.promise.then(() => live && markRead(live, { from, stanzaId })),
        }),
        received: receipts.received,
        async sentContent(key) {
          await settled.promise
          return live && (await sentContent({ app, host, live, instanceId }, key))
        },
        onQr(qr, socket) {
          settled.resolve()
          report(showCode(socket, qr, phone))
        },
        onOpen(socket) {
          live = startLive({ app, whatsApp, host, lease, socket, receipts })
          settled.resolve()
          report(announceOpen(socket))
        },
      })
      open = opened
      // A message, and a recipient who asks for one again, may come during the login, and waits for its end.
      void opened.closed.then(() => settled.resolve())
      await Promise.race([settled.promise, pause(loginMs, undefined, { ref: false })])
    })
    return opened
  }

  let codeFor: string | undefined
  /** With a number, one pairing code in place of the QR codes. */
  async function showCode(socket: WASocket, qr: string, phone: string | null): Promise<void> {
    if (phone === null) return void (await tell({ status: 'pairing', qr }))
    if (codeFor === phone) return
    codeFor = phone
    const code = await socket.requestPairingCode(phone.slice(1))
    await tell({ status: 'pairing', pairingCode: `${code.slice(0, 4)}-${code.slice(4)}` })
  }

  async function announceOpen({ user }: WASocket): Promise<void> {
    if (await tell({ status: 'connected', waNumber: user && `+${userOf(user.id)}` })) host.ready(instanceId)
  }

  /** The last change that the open connection reported. */
  let told: Omit<StateChange, 'instanceId'> | undefined
  /** Stores a change as soon as the database takes it, because the network reports it once. Returns false if a later one replaced it. */
  async function tell(change: NonNullable<typeof told>): Promise<boolean> {
    told = change
    await untilStored(app, async () => told === change && (await reportState({ app, host, lease }, change)))
    return told === change
  }

  let replacedAt: number[] = []
  /** Stores what a closed connection means. Returns false if there is nothing to connect again. */
  async function settle(action: Action): Promise<boolean> {
    if (action.do === 'restart') return true
    if (action.do === 'check_holder') {
      // The holder of the lease decides: with the lease still here, the other connection is a mistake that ends soon.
      await sqlTransaction(app.pool, (tx) => lockLease(tx, lease))
      replacedAt = [...replacedAt.filter((at) => performance.now() - at < replacementsMs), performance.now()]
      if (replacedAt.length >= mostReplacements) return await settle({ do: 'stop', error: contested })
      await pause(timing(app).leaseMs, undefined, { signal: ending.signal })
      return true
    }
    if (action.do === 'retry') {
      await reportState({ app, host, lease }, { status: 'disconnected', error: action.error })
      return true
    }
    if (action.do === 'renew' || action.do === 'stop')
      app.log.error({ instanceId, err: action.error }, 'a connection of WhatsApp Web is given up')
    const restricted = action.do === 'wait' || (action.do === 'forget' && action.restricted)
    const lastsMs = action.do === 'wait' ? action.ms : undefined
    if (restricted) await reportState({ app, host, lease }, { restricted, atRisk: true, lastsMs, error: action.error })
    await end({ instanceId, status: action.do === 'forget' ? 'logged_out' : 'disconnected', error: action.error }, action)
    return false
  }

  async function end(change: StateChange, action: Action): Promise<void> {
    await sqlTransaction(app.pool, async (tx) => {
      await host.state(change, tx)
      if (action.do === 'wait') await wait(tx, instanceId, action.ms)
      else await wantClosed(tx, instanceId)
      if (action.do !== 'forget') return await lockLease(tx, lease)
      // A key that is being stored must not come back after its deletion.
      await giveUpToken(tx, lease)
      await deleteLogin(tx, instanceId)
    })
    app.signals.emit('outbox')
  }

  function report(work: Promise<void>): void {
    work.catch((err: Error) => app.log.warn({ instanceId, err: err.message }, 'the state of a connection was not stored'))
  }

  return {
    lease,
    live: () => (lease.isHeld() && !ending.signal.aborted && live?.socket.ws.isOpen ? live : undefined),
    pacer: createPacer(),
    finished,
    isClosing: () => ending.signal.aborted,
    cut: () => open?.cut(),
    async close() {
      ending.abort()
      await live?.drain()
      await open?.close()
      await finished
    },
  }
}

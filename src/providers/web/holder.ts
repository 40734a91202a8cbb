// Holds the connections of this process: takes leases on free instances, shares them evenly between processes, and gives them back at the end.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import { answerCalls, type CarryOut } from './calls.ts'
import type { Host } from './host.ts'
import { claim, leave, release, type Survey, sendHeartbeat, survey } from './leases.sql.ts'
import { createLimit } from './limit.ts'
import { type Session, startSession } from './session.ts'
import { timing } from './timing.ts'

/** Disposing of it closes every connection and gives the leases back. */
export interface Holder extends AsyncDisposable {
  session: (instanceId: string) => Session | undefined
  /** Reads the wanted connections after so many milliseconds, in place of the next regular poll. */
  wakeIn: (ms: number) => void
}

/** A lease counts as over this much earlier than the database says: for timers, and for the last commits that a crash of it may lose. */
const marginMs = 1_500
/** Leases are compared with the clock this often. */
const watchMs = 250
/** Most leases that one poll takes. */
const mostClaims = 50
/** Connections that log in at the same time. Each login is up to 0.1 s of processor time. */
const logins = 3

export function startHolder(app: App, host: Host, carryOut: CarryOut): Holder {
  const { leaseMs, heartbeatMs, pollMs, idlePollMs } = timing(app)
  const sessions = new Map<string, Session>()
  const closing = new Set<Promise<void>>()
  const inTurn = createLimit(logins)
  const ending = new AbortController()
  let heartbeatAt = Number.NEGATIVE_INFINITY
  /** True while no instance is to have a connection: this process is then unknown to the others, and polls less often. */
  let isIdle = true
  let wake = new AbortController()
  const watching = setInterval(cutLapsed, watchMs)
  const running = run()

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        await poll()
      } catch (error) {
        app.log.warn({ err: (error as Error).message }, 'the leases of WhatsApp Web could not be read')
      }
      await pause(isIdle ? idlePollMs : pollMs, undefined, { signal: AbortSignal.any([ending.signal, wake.signal]) }).catch(
        () => {},
      )
      wake = new AbortController()
    }
  }

  /** While the database is unreachable or slow, another process may take leases that are not renewed: no connection outlives its lease. */
  function cutLapsed(): void {
    for (const session of sessions.values()) {
      if (performance.now() < session.lease.heldUntil) continue
      session.cut()
      retire(session)
    }
  }

  async function poll(): Promise<void> {
    const startedAt = performance.now()
    if (!isIdle && startedAt - heartbeatAt >= heartbeatMs) {
      // The work of the instances does not use these connections, so it cannot delay the heartbeat.
      await sendHeartbeat(app.quickPool, app.node, leaseMs)
      heartbeatAt = startedAt
    }
    const readAt = performance.now()
    const { nodes, wanted, held } = await survey(app.quickPool, app.node)
    const wasIdle = isIdle
    isIdle = wanted === 0 && sessions.size === 0
    if (isIdle) return
    if (wasIdle) return await poll()
    keep(held, readAt)
    if (sessions.size > 0) answer()
    const share = Math.ceil(wanted / Math.max(1, nodes))
    const spare = [...sessions.values()].slice(share)
    for (const session of spare) giveBack(session)
    if (held.length < share && !ending.signal.aborted) await claimMore(share - held.length)
  }

  /** Brings the connections in line with the leases of this process, as they were at `readAt`. */
  function keep(held: Survey['held'], readAt: number): void {
    const mine = new Map(held.map((lease) => [lease.instanceId, lease]))
    for (const [id, session] of sessions) {
      const lease = mine.get(id)
      if (lease?.token === session.lease.token) session.lease.heldUntil = readAt + lease.leftMs - marginMs
      // The lease is lost, or another state is wanted: the next poll starts over once the connection is closed.
      else retire(session)
    }
    for (const { instanceId, token, leftMs } of held) begin(instanceId, token, readAt + leftMs - marginMs)
  }

  async function claimMore(most: number): Promise<void> {
    const claimedAt = performance.now()
    const claimed = await claim(app.pool, app.node, leaseMs, Math.min(mostClaims, most))
    for (const lease of claimed) {
      // This process began to stop meanwhile.
      if (ending.signal.aborted) await release(app.pool, lease)
      else begin(lease.instanceId, lease.token, claimedAt + leaseMs - marginMs)
    }
  }

  let answering = false
  /** Not awaited: the leases do not wait for it. */
  function answer(): void {
    if (answering) return
    answering = true
    answerCalls(app, carryOut)
      .catch((error: Error) => app.log.warn({ err: error.message }, 'the calls of other processes could not be read'))
      .finally(() => {
        answering = false
      })
  }

  function begin(instanceId: string, token: string, heldUntil: number): void {
    if (sessions.has(instanceId) || ending.signal.aborted) return
    const lease: Session['lease'] = {
      instanceId,
      node: app.node,
      token,
      heldUntil,
      isHeld: () => performance.now() < lease.heldUntil && sessions.get(instanceId)?.lease === lease,
    }
    const session = startSession({ app, host, lease, inTurn })
    sessions.set(instanceId, session)
    void session.finished.then(() => {
      if (sessions.get(instanceId) === session && !session.isClosing()) giveBack(session)
    })
  }

  /** Closes a connection without giving its lease back. It stays in the map until it is closed, so that no second one opens. */
  function retire(session: Session): void {
    track(session, async () => {})
  }

  /** Closes a connection, and lets others take it. */
  function giveBack(session: Session): void {
    track(session, () => release(app.pool, session.lease))
  }

  function track(session: Session, then: () => Promise<void>): void {
    if (session.isClosing()) return
    const work = session
      .close()
      .then(then)
      .catch((error: Error) => app.log.warn({ err: error.message }, 'a lease of WhatsApp Web ends by itself'))
      .finally(() => {
        if (sessions.get(session.lease.instanceId) === session) sessions.delete(session.lease.instanceId)
        closing.delete(work)
        wake.abort()
      })
    closing.add(work)
  }

  return {
    session: (instanceId) => sessions.get(instanceId),
    wakeIn: (ms) => void setTimeout(() => wake.abort(), ms).unref(),
    async [Symbol.asyncDispose]() {
      ending.abort()
      await running
      // From here on the other processes take more leases.
      await leave(app.pool, app.node).catch(() => {})
      for (const session of sessions.values()) giveBack(session)
      await Promise.all(closing)
      clearInterval(watching)
    },
  }
}

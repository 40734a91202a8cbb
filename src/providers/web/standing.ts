// Safety signals that the network gives about an account by itself: the lock on new chats, and the cap on them.
import type { ReachoutTimelockState, WASocket } from 'baileys'
import type { App } from '../../core/app.ts'
import { untilStored } from '../../core/database/until-stored.ts'
import { hourMs } from '../../core/durations.ts'
import type { Host } from './host.ts'
import { noNewChats } from './refusal.ts'

export interface StandingOptions {
  app: App
  host: Host
  instanceId: string
  socket: WASocket
}

/** The first question comes some time after the login, so that many connections that return together do not all ask at once. */
const firstMs = 4_000
const everyMs = 6 * hourMs

/**
 * Reports what the network tells of the account, and asks for it now and then, because a restriction counts for a day after its last report.
 * Returns the function that ends this.
 */
export function followStanding({ app, host, instanceId, socket }: StandingOptions): () => void {
  function report(standing: { restricted?: boolean; atRisk?: boolean; error: string }): void {
    // The next answer comes hours later.
    untilStored(app, () => host.state({ instanceId, ...standing })).catch((err: Error) =>
      app.log.warn({ instanceId, err: err.message }, 'the standing of an account was not stored'),
    )
  }
  const noteLock = ({ isActive, timeEnforcementEnds: end }: ReachoutTimelockState) => {
    if (!isActive) return
    // The network may name a time that is none.
    const until = end && Number.isFinite(end.getTime()) ? ` until ${end.toISOString()}` : ''
    report({ restricted: true, atRisk: true, error: `${noNewChats.words}${until}` })
  }
  const noteCap = (status: string | null | undefined) => {
    if (status === 'CAPPED')
      report({ restricted: true, atRisk: true, error: 'the account has begun as many new chats as the network allows' })
    if (status === 'SECOND_WARNING')
      report({ atRisk: true, error: 'the account has begun nearly as many new chats as the network allows' })
  }
  socket.ev.on('connection.update', ({ reachoutTimeLock }) => reachoutTimeLock && noteLock(reachoutTimeLock))
  socket.ev.on('message-capping.update', (cap) => noteCap(cap.capping_status))

  /** The answer about the lock comes as the event above. A question without an answer is repeated the next time. */
  async function ask(): Promise<void> {
    await socket.fetchAccountReachoutTimelock().catch(() => {})
    const cap = await socket.fetchNewChatMessageCap().catch(() => undefined)
    noteCap(cap?.capping_status)
  }
  let timer = setTimeout(askAndRepeat, firstMs * (0.25 + 0.75 * Math.random())).unref()
  function askAndRepeat(): void {
    void ask()
    timer = setTimeout(askAndRepeat, everyMs * (0.8 + 0.4 * Math.random())).unref()
  }
  return () => clearTimeout(timer)
}

// Sorts the locked messages of a claim by what becomes of each: it leaves, is deferred or held, is tried later, or fails.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { rowOf } from '../../message-types/service.ts'
import { providerOf } from '../../providers/providers.ts'
import { instanceOf } from '../instance-of.ts'
import type { OpenRow } from './claim.sql.ts'
import type { DeferredMessage } from './defer.ts'
import type { Slots } from './in-flight.ts'
import { refusedToLeave } from './leaving.ts'
import { recipientOf } from './lines.sql.ts'
import { type Decision, decide, type OpenMessage } from './policy.ts'
import { readWaitCauses, type WaitCause } from './wait-causes.ts'

interface Held {
  row: OpenRow
  cause: WaitCause
}

export interface Sorted {
  /** They leave now, if there is quota for them. */
  ready: OpenRow[]
  /** They wait until their instance connects. */
  deferred: DeferredMessage[]
  /** They wait under a key, for this cause. */
  held: Held[]
  /** They come after another message to the same recipient. */
  following: OpenRow[]
  /** They get a job at that time. */
  later: { row: OpenRow; at: Date }[]
  failed: { row: OpenRow; error: string }[]
}

/** Leaves out messages that need nothing. Those that are ready have taken one of `slots`. */
export async function sortMessages(app: App, tx: Sql, rows: readonly OpenRow[], slots?: Slots): Promise<Sorted> {
  const decided = rows.map((row) => ({ row, decision: decisionFor(app, row) }))
  const those = (...kinds: Decision['do'][]) => decided.flatMap(({ row, decision }) => (kinds.includes(decision.do) ? row : []))
  const [refused, stopped, causes] = await Promise.all([
    refusedToLeave(tx, those('send', 'defer')),
    stoppedAmong(app, tx, those('send', 'defer')),
    readWaitCauses(app, tx, those('send', 'follow'), slots),
  ])
  const sorted: Sorted = { ready: [], deferred: [], held: [], following: [], later: [], failed: [] }
  for (const { row, decision } of decided) {
    const error = refused.get(row.id)
    const cause = causes.get(row.id)
    if (error) sorted.failed.push({ row, error })
    else if (stopped.has(row)) sorted.later.push({ row, at: new Date(row.now.getTime() + stoppedMs) })
    else if (cause) sorted.held.push({ row, cause })
    else if (decision.do === 'send') sorted.ready.push(row)
    else if (decision.do === 'defer') sorted.deferred.push({ ...row, until: decision.until })
    else if (decision.do === 'follow') sorted.following.push(row)
    else if (decision.do === 'later') sorted.later.push({ row, at: decision.at })
    else if (decision.do === 'fail') sorted.failed.push({ row, error: decision.error })
  }
  return sorted
}

/** How long a message waits for its campaign to take it back. */
const stoppedMs = 5_000

/** The messages that the network gave back, and whose campaign sends nothing now. A campaign takes back all others when it stops. */
async function stoppedAmong(app: App, tx: Sql, rows: readonly OpenRow[]): Promise<ReadonlySet<OpenRow>> {
  const campaignOf = ({ status, mayHaveLeft, campaignId }: OpenRow) => (status === 'sending' && !mayHaveLeft ? campaignId : null)
  const stopped = await app.hooks.enqueueTakeBack(
    app,
    tx,
    rows.flatMap((row) => campaignOf(row) ?? []),
  )
  return new Set(rows.filter((row) => stopped.has(campaignOf(row) ?? '')))
}

/** How long a message waits if this process does not know its type. */
const unknownTypeMs = 5_000

function decisionFor(app: App, row: OpenRow): Decision {
  const decision = decide(withProvider(app, row), row.now, app.config.messageTtlMs)
  // While an upgrade is under way, a newer process may accept a type that this one does not know. One that knows it may get the next job.
  const isUnknown = decision.do === 'send' && !rowOf(row.type)
  return isUnknown ? { do: 'later', at: new Date(row.now.getTime() + unknownTypeMs) } : decision
}

function withProvider(app: App, row: OpenRow): OpenMessage {
  const provider = providerOf(app, row.provider)
  return {
    ...row,
    // An attempt of a network that this process does not know is left to one that does; see readWaitCauses.
    sendsOnce: provider?.sendsOnce(instanceOf(row)) ?? true,
    reconcileMs: provider?.reconcileMs ?? 0,
  }
}

/** Messages that come after another one to the same recipient. */
interface Followers {
  /** To claim after those that leave now. */
  next: OpenRow[]
  /** They wait under the key of the one before. */
  held: Held[]
  /** They are claimed again later: the one before is in another batch, or is tried later. */
  later: OpenRow[]
}

/** `gone`: the messages that leave now or have failed. A follower that is held already stays so until the one before has left. */
export function sortFollowers({ following, held }: Sorted, gone: readonly OpenRow[]): Followers {
  const leaving = new Set(gone.map(recipientOf))
  const causes = new Map(held.map(({ row, cause }) => [recipientOf(row), cause]))
  const followers: Followers = { next: [], held: [], later: [] }
  for (const row of following) {
    const cause = causes.get(recipientOf(row))
    if (row.heldBy) continue
    if (cause) followers.held.push({ row, cause })
    else if (leaving.has(recipientOf(row))) followers.next.push(row)
    else followers.later.push(row)
  }
  return followers
}

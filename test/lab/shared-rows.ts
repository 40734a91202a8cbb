// How many messages a second the two rows allow that every node changes: the usage row of an owner, which acceptance locks from the quota to the
// commit, and the counter of event numbers, which the relay locks. With one workspace and with a thousand.
import { takeQuota } from '../../src/billing/admission/quota.sql.ts'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { newId } from '../../src/core/id.ts'
import { emit } from '../../src/events/log/emit.ts'
import { notifyLeader } from '../../src/events/log/relay.sql.ts'
import { messageEvent } from '../../src/messages/events.ts'
import { openStage, type Stage } from '../bench/stage.ts'
import { until } from '../kit/until.ts'
import type { Line } from './verdict.ts'

const many = 1_000
/** Sessions that take quota at once: four nodes. `Stage.pool` has as many. */
const sessions = 4
/** Messages of one transaction, about what a node under load accepts together. */
const batch = 64
const seconds = 5
const events = 40_000
/** Queued, sent, delivered, read. */
const eventsPerMessage = 4

export async function measureSharedRows(): Promise<Line[]> {
  await using stage = await openStage(many, 'rows')
  const lines: Line[] = []
  for (const workspaces of [1, many]) {
    const name = workspaces === 1 ? 'one workspace' : `${workspaces} workspaces`
    const quota = await takeQuotaOf(stage, workspaces)
    lines.push({ what: `usage rows of ${name}`, value: `${Math.round(quota)} messages/s by ${sessions} sessions` })
  }
  for (const workspaces of [1, many]) {
    const name = workspaces === 1 ? 'one workspace' : `${workspaces} workspaces`
    const rate = await numberEventsOf(stage, workspaces)
    lines.push({
      what: `event numbers of ${name}`,
      value: `${Math.round(rate)} events/s by one relay, those of ${Math.round(rate / eventsPerMessage)} messages/s`,
    })
  }
  return lines
}

/** Messages whose quota is taken in a second. Each transaction has a batch of messages of as many owners as there are. */
async function takeQuotaOf({ pool, accounts }: Stage, workspaces: number): Promise<number> {
  const owners = accounts.slice(0, workspaces).map(({ userId }) => userId)
  const end = performance.now() + seconds * 1_000
  let taken = 0
  async function session(offset: number): Promise<void> {
    for (let turn = 0; performance.now() < end; turn++) {
      const counts = new Map<string, number>()
      for (let n = 0; n < batch; n++) {
        const owner = owners[(offset * 257 + turn * batch + n * 7) % owners.length] as string
        counts.set(owner, (counts.get(owner) ?? 0) + 1)
      }
      const wanted = [...counts].map(([ownerId, n]) => ({ ownerId, quota: 2_000_000_000, wanted: n }))
      wanted.sort((a, b) => (a.ownerId < b.ownerId ? -1 : 1))
      await sqlTransaction(pool, (tx) => takeQuota(tx, wanted, false))
      taken += batch
    }
  }
  await Promise.all(Array.from({ length: sessions }, (_, n) => session(n)))
  return taken / seconds
}

/** Events that a relay numbers in a second, out of an outbox that is full. */
async function numberEventsOf(stage: Stage, workspaces: number): Promise<number> {
  const { pool, accounts } = stage
  await using relay = await stage.start('src/main.ts', { ROLES: 'relay' })
  process.kill(relay.pid, 'SIGSTOP')
  try {
    const at = new Date()
    for (let from = 0; from < events; from += 1_000) {
      const chunk = Array.from({ length: 1_000 }, (_, n) => {
        const { workspaceId, instanceId } = accounts[(from + n) % workspaces] as Stage['accounts'][number]
        const message = { id: newId(), workspaceId, instanceId, campaignId: null, providerMessageId: null, to: '+393331234567' }
        return messageEvent(message, 'sent', at)
      })
      await emit(pool, chunk)
    }
  } finally {
    process.kill(relay.pid, 'SIGCONT')
  }
  const left = async () => Number((await pool.query<{ n: string }>('select count(*) as n from outbox')).rows[0]?.n)
  await notifyLeader(pool)
  // A process that was stopped for 4 s has lost its leadership, and takes it again.
  const first = await until(async () => [await left()].find((n) => n < events), { everyMs: 5 })
  const begun = performance.now()
  await until(async () => (await left()) === 0, { timeoutMs: 120_000, everyMs: 20 })
  return first / ((performance.now() - begun) / 1_000)
}

// Health of connected numbers: read from Meta at an interval, by one process at a time, and reported as the account's standing.
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { startLoop, wait } from '../../core/loop.ts'
import type { ProviderHost } from '../provider.ts'
import { lockStatus, takeDueHealth } from './cloud.sql.ts'
import { isRestriction, reasonOf, verdictOf } from './errors.ts'
import { readNumber, restrictedWords, standingOf } from './number.ts'
import type { KnownCloudInstance } from './settings.ts'
import { unsubscribed } from './subscription.ts'
import { refuseToken } from './token.ts'

type Host = ProviderHost<KnownCloudInstance>

/** Numbers that are read at once. */
const atOnce = 50
/** The longest time between two looks for numbers that are due. */
const longestLookMs = 30_000

/** Disposing of it waits for the reads in progress. */
export function startHealth(app: App, host: Host): AsyncDisposable {
  const everyMs = Math.min(longestLookMs, app.config.cloud.healthMs / 4)
  return startLoop(async (stop) => {
    for (;;) {
      await wait(everyMs, stop)
      if (stop.aborted) return
      await readDue(app, host).catch((error: Error) => app.log.warn({ err: error.message }, 'health of numbers not read'))
    }
  })
}

async function readDue(app: App, host: Host): Promise<void> {
  let due: string[]
  do {
    due = await takeDueHealth(app.pool, app.config.cloud.healthMs, atOnce)
    await Promise.all(due.map((id) => readHealth(app, host, id)))
  } while (due.length === atOnce && !app.stopping)
}

/** Without an answer, the standing stays as it is until the next read. */
async function readHealth(app: App, host: Host, id: string): Promise<void> {
  const instance = await host.instance(id)
  const { phoneNumberId, accessToken } = instance?.settings ?? {}
  if (!instance || !phoneNumberId || !accessToken) return
  const answer = await readNumber(app, { phoneNumberId, accessToken })
  if (answer.is === 'done') return await reportStanding(app, host, id, answer.body)
  if (answer.is === 'error' && verdictOf(answer.code).is === 'auth') {
    await refuseToken(app, instance, reasonOf(answer.code, '', [], answer.subcode))
    return
  }
  app.log.info({ instanceId: id, answer: answer.is }, 'health of a number not read')
}

/** The words for a restriction go with it, whether this read or a message met it; those of another error stay. */
async function reportStanding(app: App, host: Host, id: string, number: Record<string, unknown>): Promise<void> {
  const standing = standingOf(number)
  await sqlTransaction(app.pool, async (tx) => {
    const { status, lastError } = (await lockStatus(tx, id)) ?? {}
    if (status !== 'connected') return
    const isOver = !standing.restricted && lastError && tellsRestriction(lastError)
    await host.state({ instanceId: id, ...standing, ...(isOver && { status, error: null }) }, tx)
  })
  app.signals.emit('outbox')
}

/** The words for a failed subscription may end with such a code too. */
function tellsRestriction(words: string): boolean {
  return words.startsWith(restrictedWords) || (isRestriction(words) && !words.startsWith(unsubscribed))
}

// Wakes workers for jobs that no notification announces: delayed ones when they are due, those whose notification was lost, and those whose
// worker died. One statement looks at all queues, so that the queues themselves need hardly be polled.
import type { App } from '../app.ts'
import { createLessOften } from '../less-often.ts'
import { startLoop, wait } from '../loop.ts'
import { readDue } from './due.sql.ts'

/** Longest time that a delayed job waits beyond its start. */
const everyMs = 500
/** Interval of the checks while no job is delayed. A job that is added then with a shorter delay starts up to this much late. */
const quietEveryMs = 1_000
/** How often jobs are looked for whose notification was lost. */
const forgottenEveryMs = 5_000
/**
 * For this long after an error of the job queue, every check also looks for jobs whose notification was lost: pg-boss may need 30 s to
 * listen again.
 */
const unheardMs = 60_000
/** pg-boss deletes finished jobs when it supervises the queues. A process that finished many asks for it this often. */
const cleanEveryMs = 60_000
const many = 1_000

export interface JobAlarm extends AsyncDisposable {
  /** Names a worker to wake for a queue. */
  add: (queue: string, workerId: string) => void
  remove: (queue: string, workerId: string) => void
  /** Counts finished jobs. */
  finished: (jobs: number) => void
}

/** Starts the alarm. Disposing of it waits for the check in progress. */
export function startJobAlarm(app: App): JobAlarm {
  const workers = new Map<string, Set<string>>()
  let finished = 0
  let cleanedAt = performance.now()
  let forgottenAt = performance.now()
  let unheardUntil = 0
  const lessOften = createLessOften()
  const unheard = () => {
    unheardUntil = performance.now() + unheardMs
  }
  app.boss.on('error', unheard)
  const loop = startLoop(async (stop) => {
    while (!stop.aborted) {
      const isQuiet = await look().catch((error: Error) => {
        app.log.warn({ err: error.message }, 'due jobs could not be read')
        return false
      })
      await wait(isQuiet ? quietEveryMs : everyMs, stop)
    }
  })

  /** Wakes the workers of queues with due jobs. Returns true if no job waits for its time. */
  async function look(): Promise<boolean> {
    const forgotten = isForgottenDue() ? [...workers.keys()] : []
    const isWhole = lessOften.isDue()
    const read = () => readDue(app.boss.getDb(), forgotten, isWhole)
    const { queues, waits, lapsed } = await (isWhole ? lessOften.during(read) : read())
    for (const queue of queues) for (const id of workers.get(queue) ?? []) app.boss.notifyWorker(id)
    if (lapsed || isCleaningDue()) await app.boss.supervise()
    return !waits
  }

  function isForgottenDue(): boolean {
    const now = performance.now()
    if (now >= unheardUntil && now - forgottenAt < forgottenEveryMs) return false
    forgottenAt = now
    return true
  }

  function isCleaningDue(): boolean {
    if (finished < many || performance.now() - cleanedAt < cleanEveryMs) return false
    finished = 0
    cleanedAt = performance.now()
    return true
  }

  return {
    add(queue, workerId) {
      workers.set(queue, (workers.get(queue) ?? new Set()).add(workerId))
    },
    remove: (queue, workerId) => void workers.get(queue)?.delete(workerId),
    finished(jobs) {
      finished += jobs
    },
    async [Symbol.asyncDispose]() {
      app.boss.off('error', unheard)
      await loop[Symbol.asyncDispose]()
    },
  }
}

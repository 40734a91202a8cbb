// Sends lines: several messages to one recipient, which leave one after another. Each has a job, but the jobs of those behind the first would
// all poll for their turn. One loop of the process sends the lines that it heard of, ahead of these jobs, with the firsts of all lines in one claim.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import { createBatchLines } from './batch-lines.ts'
import { type LineRow, type Recipient, readLines, recipientOf } from './lines.sql.ts'
import { sendAhead } from './send.ts'

/** Lines of one claim. */
const mostLines = 100
/** Messages that are read of a line at once. */
const mostOfLine = 50
/** Delay before a line is read again while another batch sends its first message. */
const againMs = 100
/** How long a line without a message to send is read again. After that its jobs send its messages. */
const patienceMs = 2_000

interface Line extends Recipient {
  /** The end of the patience, by `performance.now()`. */
  until: number
  /** The first message that was sent last. It is not sent again if it is still the first. */
  sent?: string
}

/** Sends lines until disposed of. */
export function startLines(app: App): AsyncDisposable {
  const stopping = new AbortController()
  const lines = new Map<string, Line>()
  let running: Promise<void> | undefined

  function add({ instanceId, peer }: Recipient): void {
    const recipient = recipientOf({ instanceId, peer })
    if (!lines.has(recipient)) lines.set(recipient, { instanceId, peer, until: performance.now() + patienceMs })
    running ??= run()
  }

  async function run(): Promise<void> {
    while (lines.size > 0 && !stopping.signal.aborted) {
      try {
        if (!(await sendSome())) await rest(againMs)
      } catch (error) {
        app.log.warn({ err: (error as Error).message }, 'messages to one number wait for their jobs')
        lines.clear()
      }
    }
    // Set in the same turn in which the loop saw that it is done, so that the next line starts it again.
    running = undefined
  }

  /** Sends those of the oldest lines whose first message is ready; returns false if there is none. */
  async function sendSome(): Promise<boolean> {
    const taken = [...lines].slice(0, mostLines)
    const found = Map.groupBy(
      await readLines(
        app.pool,
        taken.map(([, line]) => line),
        mostOfLine,
      ),
      recipientOf,
    )
    const firsts: string[] = []
    const others: LineRow[] = []
    for (const [recipient, line] of taken) {
      const [first, ...rest] = found.get(recipient) ?? []
      lines.delete(recipient)
      if (first?.ready && first.id !== line.sent) {
        firsts.push(first.id)
        others.push(...rest)
        Object.assign(line, { sent: first.id, until: performance.now() + patienceMs })
      }
      // Looked at again after the others, until it is empty or its first message stays where it is.
      if (first && line.until > performance.now()) lines.set(recipient, line)
    }
    if (firsts.length > 0) await sendAhead(app, firsts, createBatchLines(others))
    return firsts.length > 0
  }

  async function rest(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: stopping.signal }).catch(() => {})
  }

  app.signals.on('line', add)
  return {
    async [Symbol.asyncDispose]() {
      app.signals.off('line', add)
      stopping.abort()
      await running
    },
  }
}

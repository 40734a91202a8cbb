// Looks numbers up on the network, slowly: bulk questions get accounts flagged. Answers are kept for seven days.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import { type CarryOut, callHolder } from './calls.ts'
import type { Live } from './live.ts'
import { readNumbers, storeNumbers } from './numbers.sql.ts'
import { jidOf } from './stanza-id.ts'

const batchSize = 20
const everyMs = 1_000
/** Shorter than the wait for a look-up. */
const answerMs = 7_000

/** Returns for each number true if it is on the network; null if nobody could ask in time. */
export async function lookUp(
  app: App,
  carryOut: CarryOut,
  instanceId: string,
  numbers: readonly string[],
): Promise<(boolean | null)[]> {
  const known = await readNumbers(app.pool, instanceId, numbers)
  const asked = numbers.filter((number) => !known.has(number))
  if (asked.length > 0) {
    const call = { call: 'lookup' as const, numbers: asked }
    const found = (await callHolder(app, carryOut, instanceId, call, answerMs)) as Record<string, boolean> | undefined
    for (const [number, exists] of Object.entries(found ?? {})) known.set(number, exists)
  }
  return numbers.map((number) => known.get(number) ?? null)
}

/** End of the last batch of each connection, which all of its look-ups share. */
const lines = new WeakMap<Live, Promise<void>>()

/** Asks the network over an open connection: in batches of 20, one a second, and no longer than the caller waits. */
export async function askNetwork(
  app: App,
  instanceId: string,
  live: Live,
  numbers: readonly string[],
): Promise<Record<string, boolean>> {
  const found: Record<string, boolean> = {}
  const deadline = performance.now() + answerMs
  for (let from = 0; from < numbers.length; from += batchSize) {
    const batch = numbers.slice(from, from + batchSize)
    const before = lines.get(live) ?? Promise.resolve()
    const turn = before.then(async () => {
      if (performance.now() > deadline) return false
      const answers = (await live.socket.onWhatsApp(...batch)) ?? []
      const there = new Set(answers.filter(({ exists }) => exists).map(({ jid }) => jid))
      for (const number of batch) found[number] = there.has(jidOf(number))
      return true
    })
    lines.set(
      live,
      turn.catch(() => true).then((asked) => (asked ? pause(everyMs, undefined, { ref: false }) : undefined)),
    )
    if (!(await turn)) return found
    const answered = batch.map((phone) => ({ phone, exists: found[phone] as boolean }))
    await storeNumbers(app.pool, instanceId, answered)
  }
  return found
}

// Looks numbers up on the network, slowly: bulk questions get accounts flagged. Answers are kept for seven days.
import { setTimeout as pause } from 'node:timers/promises'
import type { BinaryNode } from 'baileys'
import type { App } from '../../core/app.ts'
import { phoneOf } from './address.ts'
import { type CarryOut, callHolder } from './calls.ts'
import type { Live } from './live.ts'
import { type NumberAnswer, readNumbers, storeNumbers } from './numbers.sql.ts'

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
      if (performance.now() > deadline) return undefined
      return await askBatch(live, batch)
    })
    lines.set(
      live,
      turn.catch(() => true).then((asked) => (asked ? pause(everyMs, undefined, { ref: false }) : undefined)),
    )
    const answers = await turn
    if (!answers) return found
    for (const { phone, exists } of answers) found[phone] = exists
    await storeNumbers(app.pool, instanceId, answers)
  }
  return found
}

/** Of one answer: the number that was asked for, if the network repeats it, and whether it is there. */
interface Contact {
  asked: string | undefined
  exists: boolean
}

/**
 * Asks for one batch. The address in an answer may have other digits than the number: Brazil with or without the ninth digit, Mexico and
 * Argentina with or without the digit for mobiles. The network therefore repeats the number; `onWhatsApp` of the package drops it. If an
 * answer belongs to no number of the batch, it may belong to any that got none, so those stay open.
 */
async function askBatch({ socket, whatsApp }: Live, batch: readonly string[]): Promise<NumberAnswer[]> {
  const query = new whatsApp.USyncQuery().withContactProtocol()
  for (const protocol of query.protocols) protocol.parser = contactOf
  for (const number of batch) query.withUser(new whatsApp.USyncUser().withPhone(number))
  const { list } = (await socket.executeUSyncQuery(query)) ?? { list: [] }
  const found = new Map<string, NumberAnswer>()
  let isUnclear = false
  for (const { id, contact } of list) {
    const written = phoneOf(id)
    const { asked = `+${id.split('@')[0]}`, exists } = contact as Contact
    const address = exists && written && written !== asked ? written : null
    if (batch.includes(asked)) found.set(asked, { phone: asked, exists, address })
    else if (exists) isUnclear = true
  }
  return batch.flatMap((phone) => found.get(phone) ?? (isUnclear ? [] : { phone, exists: false, address: null }))
}

function contactOf({ attrs, content }: BinaryNode): Contact {
  const digits = content?.toString().replace(/@.*|\D/g, '')
  return { asked: digits ? `+${digits}` : undefined, exists: attrs.type === 'in' }
}

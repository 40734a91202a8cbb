// Setup for chaos with Meta: statuses that overtake, repeat and change places, and answers that are lost, late or refused, as a seed says.
import { setTimeout as pause } from 'node:timers/promises'
import { pickFrom } from '../faults/rig.ts'
import type { Effect, MetaNumber, StandIn, Taken } from './stand-in.ts'
import { envelope, post, statusOf } from './stand-in-hooks.ts'

export interface Statuses {
  /** The status that each message, by our id, ends with. */
  ends: Map<string, string>
  /** Resolves when every status was taken. */
  told: () => Promise<void>
}

/** Reports each message that Meta takes. `url` names the webhook of a live process. A post is repeated until it is answered with 200. */
export function reportStatuses(standIn: StandIn, number: MetaNumber, url: () => string, random: () => number): Statuses {
  const ends = new Map<string, string>()
  const telling: Promise<void>[] = []
  let over = false

  async function tell(message: Taken, status: string): Promise<void> {
    const more = status === 'failed' && { errors: [{ code: 131026, title: 'Undeliverable' }] }
    const body = envelope([{ number, statuses: [statusOf(message, status, more || {})] }])
    while (!over) {
      const answer = await post(url(), number.appSecret, body).catch(() => 0)
      if (answer === 200) return
      await pause(50)
    }
  }

  async function tellAll(message: Taken, statuses: readonly string[], afterMs: number): Promise<void> {
    await pause(afterMs)
    for (const status of statuses) {
      await tell(message, status)
      if (random() < 0.3) await tell(message, status)
    }
  }

  standIn.onMessage = async (message) => {
    const end = random() < 0.1 ? 'failed' : random() < 0.3 ? 'delivered' : 'read'
    ends.set(message.biz_opaque_callback_data as string, end)
    const statuses =
      end === 'failed' ? ['sent', 'failed'] : end === 'read' ? ['sent', 'delivered', 'read'] : ['sent', 'delivered']
    if (random() < 0.3) statuses.sort(() => random() - 0.5)
    if (end !== 'failed' && random() < 0.2) statuses.shift()
    telling.push(tellAll(message, [...new Set([...statuses, end])], 300 * random()))
    // Overtakes the answer of the send, unless nobody takes it soon.
    if (random() < 0.2) await Promise.race([tell(message, 'sent'), pause(1_000)])
  }
  return {
    ends,
    async told() {
      await Promise.all(telling)
      over = true
    },
  }
}

const effects: readonly Effect[] = [
  'lose',
  'lose',
  'lose',
  'drop',
  'hang',
  { bare: 502 },
  { bare: 429, retryAfter: 1 },
  { code: 131056, status: 429 },
  { code: 130429, status: 429, retryAfter: 1 },
  { code: 131016, status: 503 },
  { code: 1, status: 500 },
]

/**
 * Lets a send fail half of the time. Faults do not pile up while nothing is sent: each try after a wait would meet one, and every wait would
 * be twice as long as the one before. Ends when `signal` aborts.
 */
export async function failSends(standIn: StandIn, random: () => number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    standIn.addFault({ on: /messages$/, effect: pickFrom(effects, random) })
    await pause(300 * random(), undefined, { signal }).catch(() => {})
    standIn.clearFaults()
    await pause(300 * random(), undefined, { signal }).catch(() => {})
  }
}

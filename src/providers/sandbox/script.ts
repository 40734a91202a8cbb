// Behaviour of the sandbox network for a message, chosen by the last four digits of the number. Pure; times are multiples of one latency.
import { createHash } from 'node:crypto'
import { optedOut } from '../outgoing.ts'
import type { ReceiptStatus } from '../reports.ts'

/** A step that happens after `after` latencies. */
export type Step = { after: number; kind: 'receipt'; status: ReceiptStatus; error?: string } | { after: number; kind: 'answer' }

export interface Script {
  /** Refused at once and permanently. */
  refuse?: { error: string; restricted?: boolean }
  /** Number of temporary refusals before the message is accepted. */
  stumbles?: number
  /** Accepted, but the response to the send is lost. */
  losesAnswer?: boolean
  /** The first attempt is not accepted; the instance's connection drops for this many latencies instead. */
  drops?: number
  steps: Step[]
}

function receipts(...statuses: ReceiptStatus[]): Step[] {
  return statuses.map((status, i) => ({ after: i + 1, kind: 'receipt', status }))
}

const ordinary = receipts('sent', 'delivered', 'read')

const scripts: Record<string, Script> = {
  '0001': { refuse: { error: 'RECIPIENT_NOT_FOUND' }, steps: [] },
  '0002': { steps: [...receipts('sent'), { after: 2, kind: 'receipt', status: 'failed', error: 'UNDELIVERABLE' }] },
  '0003': { steps: receipts('sent', 'read') },
  '0004': {
    steps: (['read', 'delivered', 'sent'] as const).flatMap((status, i) => {
      const step: Step = { after: i + 1, kind: 'receipt', status }
      return [step, step, step]
    }),
  },
  '0005': { steps: receipts('sent') },
  '0006': { steps: [...receipts('sent', 'delivered'), { after: 3, kind: 'answer' }] },
  '0007': { refuse: { error: 'ACCOUNT_RESTRICTED', restricted: true }, steps: [] },
  '0008': { stumbles: 2, steps: ordinary },
  '0009': { losesAnswer: true, steps: ordinary },
  '0010': { drops: 3, steps: ordinary },
  '0011': { refuse: { error: optedOut }, steps: [] },
}

export function scriptFor(to: string): Script {
  return scripts[to.slice(-4)] ?? { steps: ordinary }
}

/** True if a number is on the sandbox network. */
export function exists(to: string): boolean {
  return scriptFor(to).refuse?.error !== 'RECIPIENT_NOT_FOUND'
}

/** Returns a stable phone number for an instance, derived from its id and the seed. */
export function sandboxNumber(seed: number, instanceId: string): string {
  const digest = createHash('sha256').update(`${seed} ${instanceId}`).digest()
  return `+3933${String(digest.readUInt32BE(0) % 100_000_000).padStart(8, '0')}`
}

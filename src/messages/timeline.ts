// Pure rules of a message's progress: its steps with their times, whether it is late, and the cause of its wait.
import type { Message } from '../generated/prisma/client.ts'
import type { MessageStatus } from '../generated/prisma/enums.ts'

export interface TimelineStep {
  status: MessageStatus
  at: Date
  /** Milliseconds since the step before; 0 for the first one. */
  afterMs: number
}

/** Columns that {@link timelineOf} needs. */
export const timedColumns = [
  'direction',
  'createdAt',
  'handedAt',
  'sentAt',
  'deliveredAt',
  'readAt',
  'failedAt',
  'cancelledAt',
] as const

type Timed = Pick<Message, (typeof timedColumns)[number]>

/** The steps of a message in the order of statuses. The clock of the network may be behind ours, so that a step seems to come too early. */
export function timelineOf(message: Timed): TimelineStep[] {
  const { createdAt, handedAt, sentAt, deliveredAt, readAt, failedAt, cancelledAt } = message
  const first = message.direction === 'inbound' ? 'received' : 'queued'
  const times = { [first]: createdAt, sending: handedAt, sent: sentAt, delivered: deliveredAt, read: readAt }
  const steps = Object.entries({ ...times, failed: failedAt, cancelled: cancelledAt }).flatMap(([status, at]) =>
    at ? [{ status: status as MessageStatus, at }] : [],
  )
  return steps.map(({ status, at }, i) => {
    const before = steps[i - 1]?.at ?? at
    return { status, at, afterMs: Math.max(0, at.getTime() - before.getTime()) }
  })
}

/** A message that is due leaves within seconds, and the network answers within seconds. */
const usualMs = 60_000

/** True if a message is on its way to the network. */
export function isOpen({ direction, status }: Pick<Message, 'direction' | 'status'>): boolean {
  return direction === 'outbound' && (status === 'queued' || status === 'sending')
}

/** True if a message is still on its way to the network a minute after it was due. */
export function isStalled(message: Pick<Message, 'direction' | 'status' | 'dueAt'>, now: Date): boolean {
  return isOpen(message) && now.getTime() - message.dueAt.getTime() > usualMs
}

export const waitReasons = {
  schedule: 'Its time has not come.',
  instance: 'Its instance is not connected.',
  recipient_hold: 'The network asked to wait with this recipient.',
  instance_hold: 'The network asked to wait with this instance.',
  account_hold: 'The network asked to wait with the account of this instance.',
  turn: 'An earlier message to the same number goes first.',
  retry: 'The network could not take it; it is tried again.',
  capacity: 'Other messages of its instance are being sent; it leaves when one of them is done.',
  dispatch: 'It is about to be sent.',
  answer: 'It was handed to the network, which has not answered.',
  report: 'The network took it and has not reported on it.',
} as const

export type WaitReason = keyof typeof waitReasons

export interface MessageWait {
  reason: WaitReason
  /** When the wait ends by itself; null if that is not known. */
  until: Date | null
  /** When the message fails as EXPIRED unless it has left; null once it was handed to the network. */
  expiresAt: Date | null
}

/** A message that is queued or sending, with all that may keep it. */
export interface WaitingRow {
  dueAt: Date
  nextAttemptAt: Date | null
  leaseUntil: Date | null
  handed: boolean
  accepted: boolean
  instanceConnected: boolean
  /** The key under which it waits, and the end of the hold of that key; null without one. */
  heldBy: string | null
  holdUntil: Date | null
  /** True if an earlier message to the same number has not been accepted by the network. */
  blocked: boolean
  now: Date
}

/** Returns the cause of a message's wait, in the order in which dispatch checks them. */
export function waitOf(row: WaitingRow, ttlMs: number): MessageWait {
  const expiresAt = row.handed || row.accepted ? null : new Date(row.dueAt.getTime() + ttlMs)
  const wait = (reason: WaitReason, until: Date | null = null): MessageWait => ({ reason, until, expiresAt })
  if (row.accepted) return wait('report')
  if (row.leaseUntil) return wait('answer', row.leaseUntil > row.now ? row.leaseUntil : null)
  if (row.dueAt > row.now) return wait('schedule', row.dueAt)
  if (row.holdUntil) return wait(`${row.heldBy?.split(' ')[0] as 'recipient' | 'instance' | 'account'}_hold`, row.holdUntil)
  if (!row.instanceConnected) return wait('instance')
  if (row.nextAttemptAt && row.nextAttemptAt > row.now) return wait('retry', row.nextAttemptAt)
  if (row.blocked) return wait('turn')
  return wait(row.heldBy ? 'capacity' : 'dispatch')
}

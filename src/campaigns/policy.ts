// Pure rules of campaigns: allowed state changes, next step, progress.
import type { CampaignStatus } from '../generated/prisma/client.ts'
import { dueNow, earlier } from './pace.ts'

/** Most distinct numbers of one campaign. */
export const maxRecipients = 100_000

/** The speed of a campaign: messages created at once, and the shortest pause before the next page, in milliseconds. */
export interface Speed {
  pageSize: number
  restMs: number
}

const alone: Speed = { pageSize: 50, restMs: 100 }
/**
 * Pages so small that other sends of the same moment are not delayed noticeably. A page costs about the same whatever its size, so it must
 * not be too small: by `npm run bench -- campaign`, 20 messages every 100 ms are half of the campaign's own speed, with a p99 of instant
 * sends of 1.1 ×; 10 every 50 ms are a quarter, with 1.4 ×.
 */
const besideOthers: Speed = { pageSize: 20, restMs: 100 }
/** Time during which campaigns make small pages after a message outside of any campaign was sent. */
const makesWayMs = 60_000
/**
 * Most messages of one campaign that wait for their provider at a time (backpressure). Other recipients stay planned, without a
 * message.
 */
const mostUnaccepted = 500
/** Longest time that a worker spends on one campaign before it takes another. */
export const turnMs = 1_000

/** Returns the speed, `sinceMs` after a message outside of any campaign was last sent. */
export function speedAfter(sinceMs: number): Speed {
  return sinceMs < makesWayMs ? besideOthers : alone
}

/** Milliseconds to pause after a page that took `tookMs`: at least three times as long, so that campaigns slow down on a busy machine. */
export function restAfter(tookMs: number, { restMs }: Speed): number {
  return Math.max(restMs, 3 * tookMs)
}

export type CampaignAction = 'pause' | 'resume' | 'cancel' | 'change'

const allowed: Record<CampaignAction, readonly CampaignStatus[]> = {
  pause: ['scheduled', 'running'],
  resume: ['paused'],
  cancel: ['scheduled', 'running', 'paused'],
  change: ['scheduled', 'running', 'paused'],
}

const done: Record<CampaignAction, string> = { pause: 'paused', resume: 'resumed', cancel: 'cancelled', change: 'changed' }
const either = new Intl.ListFormat('en', { type: 'disjunction' })

/** Returns why a campaign in this state cannot be paused, resumed, cancelled or changed; null if it can. */
export function obstacle(action: CampaignAction, status: CampaignStatus): string | null {
  if (allowed[action].includes(status)) return null
  return `The campaign is ${status}; only a campaign that is ${either.format(allowed[action])} can be ${done[action]}`
}

/**
 * True if somebody paused or cancelled the campaign, so that what has not left is taken back. One that paused itself, for want of quota,
 * still sends the messages that have quota.
 */
export function isStopped({ status, error }: { status: CampaignStatus; error: string | null }): boolean {
  return status === 'cancelled' || (status === 'paused' && error === null)
}

export interface Progress {
  status: CampaignStatus
  scheduledFor: Date | null
  lastEnqueuedAt: Date | null
  instanceDeleted: boolean
  /** Recipients of the next page, which have no message yet. */
  planned: number
  /** Messages of the campaign that are queued or sending. */
  open: number
  /** Those of the open messages that no provider has accepted yet. */
  unaccepted: number
  /** Those of them that wait: deferred or held. When the wait ends, they leave whatever the rate is. */
  waiting: number
  /** Those of them that wait for their instance to connect. */
  deferred: number
  /** Most messages a minute; null without a limit. */
  rate: number | null
  /** Earliest time of the next message by the rate. */
  nextAt: Date | null
  /** End of the quiet hours; null outside of them. */
  quietUntil: Date | null
  /** When the next quiet hours begin; null if there are none. */
  quietFrom: Date | null
}

export type Step =
  /** The campaign has ended, or is paused with planned recipients, and no quiet hours concern its queued messages. */
  | { do: 'nothing' }
  | { do: 'later'; at: Date }
  /** Quiet hours: nothing leaves until `until`, not even what is queued. */
  | { do: 'quiet'; until: Date }
  | { do: 'complete' }
  | { do: 'fail'; error: string }
  | { do: 'send'; most: number }

/** Returns the next step of a campaign; `now` is the time of the database. */
export function nextStep(campaign: Progress, now: Date, pageSize: number): Step {
  const { status, scheduledFor, planned, open, unaccepted, quietUntil } = campaign
  if (status === 'scheduled' && scheduledFor && scheduledFor > now) return { do: 'later', at: scheduledFor }
  if (status === 'completed' || status === 'cancelled' || status === 'failed') return { do: 'nothing' }
  // A paused campaign without planned recipients still completes.
  if (status === 'paused' && planned > 0) return stepOfPaused(campaign)
  if (quietUntil && (planned > 0 || unaccepted > 0) && !campaign.instanceDeleted) return { do: 'quiet', until: quietUntil }
  if (planned > 0) return stepOfPlanned(campaign, now, pageSize)
  return open === 0 ? { do: 'complete' } : { do: 'later', at: lookAgainAt(campaign, now) }
}

/** The next step of one that is running, has planned recipients and no quiet hours now. */
function stepOfPlanned(campaign: Progress, now: Date, pageSize: number): Step {
  const { rate, nextAt, waiting, unaccepted, instanceDeleted, quietFrom } = campaign
  if (instanceDeleted) return { do: 'fail', error: 'INSTANCE_DELETED' }
  const due = dueNow({ rate, nextAt }, now)
  // When quiet hours begin, what is queued is taken back, which cannot wait for the next message.
  if (due === 0 && nextAt) return { do: 'later', at: earlier(nextAt, quietFrom) }
  const most = rate !== null && waiting > 0 ? 0 : Math.min(pageSize, mostUnaccepted - unaccepted, due)
  return most > 0 ? { do: 'send', most } : { do: 'later', at: lookAgainAt(campaign, now) }
}

/** The next step of one that is paused with planned recipients. One that paused itself may have queued messages, which must not leave in quiet hours. */
function stepOfPaused({ unaccepted, instanceDeleted, quietUntil, quietFrom }: Progress): Step {
  if (unaccepted === 0 || instanceDeleted || !quietFrom) return { do: 'nothing' }
  return quietUntil ? { do: 'quiet', until: quietUntil } : { do: 'later', at: quietFrom }
}

/**
 * Longest time until the next look, in milliseconds: while messages may leave, and while none may. Then only reports of the network are missing, or
 * all messages wait for their instance, whose connection starts the next step, or the last ones wait. When quiet hours begin, it takes them back.
 */
const mostMs = { leaving: 5_000, waiting: 60_000 }

/**
 * Backoff: a quarter of the time since messages were last created, from 250 ms. It grows while nothing leaves, for example because the
 * instance is not connected, or because the network never reports on what it has accepted.
 */
export function lookAgainAt(campaign: Progress, now: Date): Date {
  const { lastEnqueuedAt, planned, unaccepted, waiting, deferred, quietFrom } = campaign
  const idleMs = lastEnqueuedAt ? now.getTime() - lastEnqueuedAt.getTime() : 0
  const mayLeave = unaccepted > waiting || (planned > 0 && (unaccepted > deferred || deferred === 0))
  const at = now.getTime() + Math.min(mayLeave ? mostMs.leaving : mostMs.waiting, Math.max(250, idleMs / 4))
  return earlier(new Date(at), quietFrom)
}

export interface Counters {
  total: number
  planned: number
  queued: number
  sent: number
  delivered: number
  read: number
  failed: number
  cancelled: number
}

/** The status of a recipient: one of the counters. */
export type RecipientState = Exclude<keyof Counters, 'total'>

/** Share of recipients that are neither planned nor queued, in whole percent, rounded down. */
export function progressPercent({ total, planned, queued }: Counters): number {
  return total === 0 ? 0 : Math.floor((100 * (total - planned - queued)) / total)
}

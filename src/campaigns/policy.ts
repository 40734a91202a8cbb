// Pure rules of campaigns: what may be done in which state, what comes next, how fast, how far it is.
import type { CampaignStatus } from '../generated/prisma/client.ts'

/** Distinct numbers that one campaign may have. */
export const maxRecipients = 100_000

/** How fast a campaign goes: messages that are made at once, and the least time between that and the next. */
export interface Pace {
  pageSize: number
  restMs: number
}

const brisk: Pace = { pageSize: 50, restMs: 100 }
/** So few at a time that whoever sends in the same moment does not notice. */
const gentle: Pace = { pageSize: 5, restMs: 200 }
/** How long a campaign makes way for those who sent something that is no campaign's. */
const makesWayMs = 60_000
/** Messages of one campaign that wait for their provider at a time; the others are only planned, and cost nothing. */
const maxWaiting = 500
/** How long a worker stays with one campaign before it looks at another. */
export const turnMs = 5_000

/** The pace `sinceMs` after something that is no campaign's was last sent. */
export function paceAfter(sinceMs: number): Pace {
  return sinceMs < makesWayMs ? gentle : brisk
}

/** Milliseconds to rest after a page that took `tookMs`: the busier the machine, the longer. */
export function restAfter(tookMs: number, { restMs }: Pace): number {
  return Math.max(restMs, 3 * tookMs)
}

export type Deed = 'pause' | 'resume' | 'cancel'

const allowed: Record<Deed, readonly CampaignStatus[]> = {
  pause: ['scheduled', 'running'],
  resume: ['paused'],
  cancel: ['scheduled', 'running', 'paused'],
}

const done: Record<Deed, string> = { pause: 'paused', resume: 'resumed', cancel: 'cancelled' }
const either = new Intl.ListFormat('en', { type: 'disjunction' })

/** Why a campaign in this state cannot be paused, resumed or cancelled; null where it can. */
export function obstacle(deed: Deed, status: CampaignStatus): string | null {
  if (allowed[deed].includes(status)) return null
  return `The campaign is ${status}; only one that is ${either.format(allowed[deed])} can be ${done[deed]}`
}

export interface Progress {
  status: CampaignStatus
  scheduledFor: Date | null
  lastEnqueuedAt: Date | null
  instanceDeleted: boolean
  /** Recipients without a message, of the next page. */
  planned: number
  /** Messages that are queued or sending, */
  open: number
  /** and those of them that no provider has taken yet. */
  waiting: number
}

export type Step =
  /** Not its time, or over. */
  | { do: 'nothing' }
  | { do: 'later'; at: Date }
  | { do: 'complete' }
  | { do: 'fail'; error: string }
  | { do: 'send'; most: number }

/** What comes next for a campaign, at the database's `now`. */
export function nextStep(campaign: Progress, now: Date, pageSize: number): Step {
  const { status, scheduledFor, planned, open, waiting } = campaign
  if (status === 'scheduled' && scheduledFor && scheduledFor > now) return { do: 'later', at: scheduledFor }
  if (status !== 'scheduled' && status !== 'running') {
    // A paused one of which everything left before it paused is done all the same.
    if (status !== 'paused' || planned > 0) return { do: 'nothing' }
  }
  if (planned === 0) return open === 0 ? { do: 'complete' } : { do: 'later', at: lookAgainAt(campaign, now) }
  if (campaign.instanceDeleted) return { do: 'fail', error: 'INSTANCE_DELETED' }
  const most = Math.min(pageSize, maxWaiting - waiting)
  return most > 0 ? { do: 'send', most } : { do: 'later', at: lookAgainAt(campaign, now) }
}

/** Soon after something left, ever later while nothing does, as with an instance that is not connected. */
function lookAgainAt({ lastEnqueuedAt }: Progress, now: Date): Date {
  const idleMs = lastEnqueuedAt ? now.getTime() - lastEnqueuedAt.getTime() : 0
  return new Date(now.getTime() + Math.min(5_000, Math.max(250, idleMs / 4)))
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

/** The share that is over or on its way to the recipient, in whole percent, rounded down. */
export function progressPercent({ total, planned, queued }: Counters): number {
  return total === 0 ? 0 : Math.floor((100 * (total - planned - queued)) / total)
}

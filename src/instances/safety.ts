// Rates how safe an instance's sending is, by pure rules over its age and recent traffic. The result is advice and never blocks a send.
import { dayMs } from '../core/durations.ts'

export const safetyStates = ['new', 'warming', 'stable', 'at_risk', 'restricted'] as const
export type SafetyState = (typeof safetyStates)[number]

export interface Caps {
  hourlyOutboundCap: number
  dailyOutboundCap: number
  hourlyUniqueRecipientsCap: number
  dailyUniqueRecipientsCap: number
  maxCampaignRecipients: number
  /** Share of a day's recipients, 0 to 1; see {@link coldRatio}. */
  maxColdRatio: number
}

export const capsByState: Record<SafetyState, Caps> = {
  new: caps(10, 40, 5, 20, 20, 0.2),
  warming: caps(30, 200, 20, 100, 100, 0.4),
  stable: caps(200, 2000, 120, 1000, 1000, 0.7),
  at_risk: caps(20, 100, 10, 50, 50, 0.1),
  restricted: caps(5, 20, 3, 10, 10, 0),
}

function caps(hourly: number, daily: number, hourlyUnique: number, dailyUnique: number, campaign: number, cold: number): Caps {
  return {
    hourlyOutboundCap: hourly,
    dailyOutboundCap: daily,
    hourlyUniqueRecipientsCap: hourlyUnique,
    dailyUniqueRecipientsCap: dailyUnique,
    maxCampaignRecipients: campaign,
    maxColdRatio: cold,
  }
}

/** The caps of each state on a network that allows so many different recipients in 24 hours. */
function capsOfLimit(dailyRecipients: number): Record<SafetyState, Caps> {
  const of = (unique: number) => {
    const most = 2 ** 31 - 1
    const daily = Math.min(4 * unique, most)
    return caps(Math.floor(daily / 2), daily, Math.floor(unique / 2), unique, unique, 1)
  }
  const usual = of(dailyRecipients)
  return { new: usual, warming: usual, stable: usual, at_risk: of(Math.floor(dailyRecipients / 2)), restricted: of(0) }
}

/** Traffic of one instance in the last hour (1h), the last day (24h) and the last week (7d). */
export interface Traffic {
  outbound1h: number
  outbound24h: number
  uniqueRecipients1h: number
  uniqueRecipients24h: number
  inboundReplies24h: number
  inboundReplies7d: number
  /** Outbound messages of the last day that failed. */
  failed24h: number
  /** Recipients first written to in the last day who never wrote. */
  coldRecipients24h: number
  disconnections24h: number
}

/** The traffic of an instance that is not used. */
export const idle: Traffic = {
  outbound1h: 0,
  outbound24h: 0,
  uniqueRecipients1h: 0,
  uniqueRecipients24h: 0,
  inboundReplies24h: 0,
  inboundReplies7d: 0,
  failed24h: 0,
  coldRecipients24h: 0,
  disconnections24h: 0,
}

export interface Standing {
  firstConnectedAt: Date | null
  /** When the provider last said that the account is restricted, and that it is close to that. In the future if it named an end. */
  restrictedAt: Date | null
  atRiskAt: Date | null
  /** Most different recipients in 24 hours that the network allows. Networks that say so are used by businesses, and know no warm-up. */
  dailyRecipients: number | null
}

export interface Assessment {
  state: SafetyState
  /** From 0 (worst) to 100. */
  score: number
  /**
   * The caps that are shown, and that a send is compared with: for each, the stricter one of the row by age and of the row of `state`.
   * The score is computed with the row by age.
   */
  caps: Caps
  ageDays: number
  /** Advice for everything that lowered the score. */
  recommendations: string[]
}

/** How long an account counts as at risk after the network last said so. */
const atRiskMs = 3 * dayMs

/** Returns the state by age alone. */
function stateByAge(ageDays: number): SafetyState {
  if (ageDays < 3) return 'new'
  return ageDays < 14 ? 'warming' : 'stable'
}

/**
 * Compares traffic with the caps of the instance's age. A low score lowers the state. So does a restriction of the account in the last 24
 * hours, or a network that called the account at risk in the last 72 hours.
 */
export function assess(standing: Standing, traffic: Traffic, now: Date): Assessment {
  const { firstConnectedAt, restrictedAt, atRiskAt, dailyRecipients } = standing
  const ageDays = firstConnectedAt ? Math.max(0, (now.getTime() - firstConnectedAt.getTime()) / dayMs) : 0
  const byAge = stateByAge(ageDays)
  const rows = dailyRecipients === null ? capsByState : capsOfLimit(dailyRecipients)
  const { score, recommendations } = scoreOf(traffic, rows[byAge])
  const restricted = restrictedAt !== null && now.getTime() - restrictedAt.getTime() < dayMs
  if (restricted) recommendations.unshift('The provider restricted this account: stop sending until the restriction is lifted.')
  const atRisk = atRiskAt !== null && now.getTime() - atRiskAt.getTime() < atRiskMs
  if (atRisk && !restricted)
    recommendations.unshift('The provider warned of this account: send less, and to people who know you.')
  const state = restricted || score < 30 ? 'restricted' : atRisk || score < 60 ? 'at_risk' : byAge
  return {
    state,
    score,
    caps: stricter(rows[state], rows[byAge]),
    ageDays: Math.floor(ageDays * 10) / 10,
    recommendations,
  }
}

function stricter(a: Caps, b: Caps): Caps {
  return {
    hourlyOutboundCap: Math.min(a.hourlyOutboundCap, b.hourlyOutboundCap),
    dailyOutboundCap: Math.min(a.dailyOutboundCap, b.dailyOutboundCap),
    hourlyUniqueRecipientsCap: Math.min(a.hourlyUniqueRecipientsCap, b.hourlyUniqueRecipientsCap),
    dailyUniqueRecipientsCap: Math.min(a.dailyUniqueRecipientsCap, b.dailyUniqueRecipientsCap),
    maxCampaignRecipients: Math.min(a.maxCampaignRecipients, b.maxCampaignRecipients),
    maxColdRatio: Math.min(a.maxColdRatio, b.maxColdRatio),
  }
}

/** Share of a day's recipients who are cold, 0 to 1. */
export function coldRatio(traffic: Pick<Traffic, 'coldRecipients24h' | 'uniqueRecipients24h'>): number {
  return traffic.uniqueRecipients24h === 0 ? 0 : traffic.coldRecipients24h / traffic.uniqueRecipients24h
}

function scoreOf(traffic: Traffic, limits: Caps): { score: number; recommendations: string[] } {
  const recommendations: string[] = []
  let score = 100
  function deduct(points: number, advice: string): void {
    if (points <= 0) return
    score -= points
    recommendations.push(advice)
  }
  const failed = traffic.outbound24h === 0 ? 0 : traffic.failed24h / traffic.outbound24h
  deduct(failed * 60, 'Many messages fail: check the numbers before you send.')
  const cold = coldRatio(traffic)
  deduct(cold > limits.maxColdRatio ? cold * 40 : 0, 'Many recipients never wrote to you: write to people who know you first.')
  const over = (value: number, cap: number, points: number) => (value > cap ? points : 0)
  deduct(
    over(traffic.outbound1h, limits.hourlyOutboundCap, 10),
    'More messages an hour than recommended for this account: spread them out.',
  )
  deduct(
    over(traffic.outbound24h, limits.dailyOutboundCap, 15),
    'More messages a day than recommended for this account: send fewer.',
  )
  deduct(
    over(traffic.uniqueRecipients1h, limits.hourlyUniqueRecipientsCap, 10),
    'Too many recipients in one hour: spread the messages out.',
  )
  deduct(
    over(traffic.uniqueRecipients24h, limits.dailyUniqueRecipientsCap, 15),
    'Too many recipients in one day: write to fewer.',
  )
  deduct(Math.min(30, 10 * traffic.disconnections24h), 'The connection dropped: check the phone and its network.')
  const replies = traffic.outbound24h === 0 ? 0 : Math.min(10, (10 * traffic.inboundReplies24h) / traffic.outbound24h)
  return { score: Math.max(0, Math.min(100, Math.round(score + replies))), recommendations }
}

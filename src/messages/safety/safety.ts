// What sending does to an instance's safety, known without asking the database for every message: each process keeps
// the last day's recipients of the instances it sends through, reads them when first needed, and again every minute so
// that other processes' sends count too.
import type { App } from '../../core/app.ts'
import { assess, coldRatio, type SafetyState, type Standing } from '../../instances/safety.ts'
import { count, trafficOf, type Window, windowOf } from '../dispatch/window.ts'
import { type Pair, readAcquainted, readTraffic, type TrafficRows } from './traffic.ts'

export interface SafetyInstance extends Standing {
  id: string
  disconnections: Date[]
}

export interface MessageSafety {
  decision: 'allow' | 'warn'
  riskLevel: 'low' | 'medium' | 'high'
  state: SafetyState
  score: number
}

export interface SafetyBook {
  /** Reads what is missing, or older than a minute, to judge messages of these instances to these numbers. */
  load: (pairs: readonly Pair[]) => Promise<void>
  /** Counts one more message to `to`, of a campaign to so many, and says what that does. */
  judge: (
    instance: SafetyInstance,
    to: string,
    now: Date,
    campaignRecipients?: number,
  ) => { warnings: string[]; safety: MessageSafety }
}

declare module '../../core/app.ts' {
  interface App {
    safety: SafetyBook
  }
}

const freshMs = 60_000

const noTraffic: TrafficRows = {
  history: false,
  instanceId: '',
  recipients: [],
  minutes: [],
  failed24h: 0,
  inboundReplies24h: 0,
  inboundReplies7d: 0,
}

export function createSafetyBook(app: Pick<App, 'pool' | 'log'>): SafetyBook {
  const windows = new Map<string, Window>()

  async function read(ids: readonly string[]): Promise<void> {
    for (const traffic of await readTraffic(app, ids)) windows.set(traffic.instanceId, windowOf(traffic))
    // A process remembers the instances it sends through; the first read go first.
    while (windows.size > 10_000) windows.delete(windows.keys().next().value as string)
  }

  async function load(pairs: readonly Pair[]): Promise<void> {
    const missing: string[] = []
    for (const id of new Set(pairs.map((pair) => pair.instanceId))) {
      const window = windows.get(id)
      if (!window) missing.push(id)
      else if (Date.now() - window.loadedAt > freshMs && !window.loading) {
        // Known, only not fresh: nobody waits for it.
        window.loading = read([id]).catch((error: Error) => {
          window.loading = null
          window.loadedAt = Date.now()
          app.log.warn({ err: error.message }, 'safety window not read')
        })
      }
    }
    if (missing.length > 0) await read(missing)
    const strangers = pairs.filter(({ instanceId, to }) => {
      const window = windows.get(instanceId)
      return window?.history && !window.recipients.has(to)
    })
    if (strangers.length === 0) return
    for (const { instanceId, to } of await readAcquainted(app, strangers)) windows.get(instanceId)?.acquainted.add(to)
  }

  function judge(instance: SafetyInstance, to: string, now: Date, campaignRecipients = 0): ReturnType<SafetyBook['judge']> {
    const window = windows.get(instance.id) ?? windowOf(noTraffic)
    const cold = count(window, to, now.getTime())
    const traffic = trafficOf(window, instance, now)
    const { state, score, limits } = assess(instance, traffic, now)
    const warnings: string[] = []
    const compare = (name: keyof typeof limits, value: number) => {
      if (value > limits[name]) warnings.push(`${name} exceeded: ${value} of ${limits[name]}`)
    }
    compare('hourlyOutboundCap', traffic.outbound1h)
    compare('dailyOutboundCap', traffic.outbound24h)
    compare('hourlyUniqueRecipientsCap', traffic.uniqueRecipients1h)
    compare('dailyUniqueRecipientsCap', traffic.uniqueRecipients24h)
    compare('maxCampaignRecipients', campaignRecipients)
    const ratio = coldRatio(traffic)
    if (cold && ratio > limits.maxColdRatio) warnings.push(`maxColdRatio exceeded: ${ratio.toFixed(2)} of ${limits.maxColdRatio}`)
    const risky = state === 'at_risk' || state === 'restricted'
    const decision = warnings.length > 0 ? 'warn' : 'allow'
    const riskLevel = decision === 'allow' ? (risky ? 'medium' : 'low') : risky ? 'high' : 'medium'
    return { warnings, safety: { decision, riskLevel, state, score } }
  }

  return { load, judge }
}

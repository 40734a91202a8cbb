// Safety assessment of sends without a database query per message. Each process caches the traffic of the last 24 hours for the instances
// it sends through. It loads an instance on first use and refreshes it every minute, so that sends of other processes count too.

import type { App } from '../../core/app.ts'
import { definePart } from '../../core/part.ts'
import { assess, coldRatio, type SafetyState, type Standing } from '../../instances/safety.ts'
import { count, trafficOf, type Window, windowOf } from '../dispatch/window.ts'
import { type Pair, readAcquainted, readTraffic, type TrafficRows } from './traffic.sql.ts'

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
  /** Loads what is missing, or older than a minute, to judge messages of these instances to these numbers. */
  load: (pairs: readonly Pair[]) => Promise<void>
  /** Counts one more message to `to` and judges it. `campaignRecipients` is the size of its campaign. */
  judge: (
    instance: SafetyInstance,
    to: string,
    now: Date,
    campaignRecipients?: number,
  ) => { warnings: string[]; safety: MessageSafety }
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

export const safetyBook = definePart(createSafetyBook)

function createSafetyBook(app: Pick<App, 'pool' | 'log'>): SafetyBook {
  const windows = new Map<string, Window>()

  async function read(ids: readonly string[]): Promise<void> {
    for (const traffic of await readTraffic(app, ids)) windows.set(traffic.instanceId, windowOf(traffic))
    // Bounds the cache. The instances that were loaded first are evicted first.
    while (windows.size > 10_000) windows.delete(windows.keys().next().value as string)
  }

  async function load(pairs: readonly Pair[]): Promise<void> {
    const missing: string[] = []
    for (const id of new Set(pairs.map((pair) => pair.instanceId))) {
      const window = windows.get(id)
      if (!window) missing.push(id)
      else if (Date.now() - window.loadedAt > freshMs && !window.loading) {
        // Stale while revalidate: callers use the old window while it is refreshed in the background.
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

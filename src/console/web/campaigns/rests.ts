// Finds the parts of a campaign's time in which it created no message although recipients were left.
import type { CampaignStatus } from '../generated/campaigns/graphql.ts'

interface Part {
  from: string
  to: string
  queued: number
}

/** Messages that a time must have been long enough for, before none of them means a rest; and its least length. */
const surely = 3
const leastMinutes = 0.5

/**
 * The indexes of these parts. A part in which a slow campaign has no message to send anyway is no rest; what comes after the last message is
 * one only while the campaign is paused.
 */
export function restsOf(parts: readonly Part[], ratePerMinute: number | null, status: CampaignStatus): Set<number> {
  const rests = new Set<number>()
  const [first, last] = [parts.findIndex(({ queued }) => queued > 0), parts.findLastIndex(({ queued }) => queued > 0)]
  if (first < 0) return rests
  const end = status === 'paused' ? parts.length : last
  for (let n = first; n < end; n++) {
    let next = n
    while (next < end && parts[next]?.queued === 0) next++
    if (next === n) continue
    const minutes = (Date.parse(parts[next - 1]?.to ?? '') - Date.parse(parts[n]?.from ?? '')) / 60_000
    const isRest = minutes >= Math.max(leastMinutes, ratePerMinute === null ? 0 : surely / ratePerMinute)
    for (; n < next; n++) if (isRest) rests.add(n)
  }
  return rests
}

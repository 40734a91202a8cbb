// A browser's measurements of a page: when its rows were there, its largest paint, its shifts, and how long interactions took.
import type { Page } from 'playwright-core'

export interface Vitals {
  /** Milliseconds from the start of the navigation. */
  rows: number
  largest: number
  /** Layout shifts without an interaction before them. */
  shift: number
  /** The longest event of each interaction, in ms. */
  durations: number[]
}

interface Watched {
  vitals: { rows: number; largest: number; shift: number; interactions: Record<number, number> }
}

/** Runs in the page before its own scripts. */
export function watchVitals(): void {
  const vitals: Watched['vitals'] = { rows: 0, largest: 0, shift: 0, interactions: {} }
  Object.assign(window, { vitals })
  type Entry = PerformanceEntry & { value: number; hadRecentInput: boolean; interactionId: number }
  const watch = (type: string, each: (entry: Entry) => void, options: object = {}) =>
    new PerformanceObserver((list) => (list.getEntries() as Entry[]).forEach(each)).observe({ type, buffered: true, ...options })
  watch('largest-contentful-paint', ({ startTime }) => (vitals.largest = startTime))
  watch('layout-shift', ({ value, hadRecentInput }) => (vitals.shift += hadRecentInput ? 0 : value))
  watch(
    'event',
    ({ interactionId, duration }) => {
      if (interactionId) vitals.interactions[interactionId] = Math.max(vitals.interactions[interactionId] ?? 0, duration)
    },
    { durationThreshold: 16 },
  )
  const look = () => {
    if (document.querySelector('tbody tr')) vitals.rows = performance.now()
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}

export async function readVitals(page: Page): Promise<Vitals> {
  return await page.evaluate(() => {
    const { interactions, ...rest } = (window as unknown as Watched).vitals
    return { ...rest, durations: Object.values(interactions) }
  })
}

// Records the elements of a page that moved without an action of the reader.

interface Watched {
  shifts: string[]
}

/** Runs in the page, before anything is shown. */
export function watchShifts(): void {
  const watched = window as unknown as Watched
  watched.shifts = []
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & {
      value: number
      hadRecentInput: boolean
      sources: Source[]
    })[]) {
      const what = entry.sources.map(({ node }) => `${node?.nodeName} ${node?.textContent?.slice(0, 40)}`)
      if (!entry.hadRecentInput) watched.shifts.push(`${entry.value.toFixed(4)} ${what.join(', ')}`)
    }
  }).observe({ type: 'layout-shift', buffered: true })
  interface Source {
    node?: Node
  }
}

/** After a frame, by which the browser has reported them. */
export async function shiftsSoFar(): Promise<string[]> {
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
  return (window as unknown as Watched).shifts
}

// Polls values whose changes no event reports, while they may change and the page is visible.
import { useEffect, useRef } from 'react'

/** Calls `again` while `active` and while the page is in sight. */
export function useRefresh(active: boolean, again: () => void, everyMs = 2_000): void {
  const last = useRef(again)
  useEffect(() => {
    last.current = again
  })
  useEffect(() => {
    if (!active) return
    const timer = setInterval(() => document.visibilityState === 'visible' && last.current(), everyMs)
    return () => clearInterval(timer)
  }, [active, everyMs])
}

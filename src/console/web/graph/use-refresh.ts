// Polls values whose changes no event reports, while they may change and the page is visible.
import { useEffect, useRef } from 'react'

/** Calls `again` every 2 s while `active` and while the page is in sight. */
export function useRefresh(active: boolean, again: () => void): void {
  const last = useRef(again)
  useEffect(() => {
    last.current = again
  })
  useEffect(() => {
    if (!active) return
    const timer = setInterval(() => document.visibilityState === 'visible' && last.current(), 2_000)
    return () => clearInterval(timer)
  }, [active])
}

// Remembers that something was true.
import { useState } from 'react'

/** True from the first time on that `now` is. The content below a list waits for that, so that the list does not push it down. */
export function useOnce(now: boolean): boolean {
  const [before, setBefore] = useState(now)
  if (now && !before) setBefore(true)
  return now || before
}

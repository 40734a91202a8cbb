// Tells answers that come late whether the component that asked is still there.
import { type RefObject, useEffect, useRef } from 'react'

/** True while the component is on the page. */
export function useShown(): RefObject<boolean> {
  const shown = useRef(true)
  useEffect(() => {
    shown.current = true
    return () => {
      shown.current = false
    }
  }, [])
  return shown
}

// Reads again after changes, at most once in a while, however many of them come.
import { useCallback, useEffect, useRef } from 'react'

const againMs = 2_000

/** Returns a function that plans a call of `again`, unless one is planned already. */
export function useSoon(again: () => void): () => void {
  const last = useRef(again)
  const planned = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    last.current = again
  })
  useEffect(() => () => clearTimeout(planned.current), [])
  return useCallback(() => {
    planned.current ??= setTimeout(() => {
      planned.current = undefined
      last.current()
    }, againMs)
  }, [])
}

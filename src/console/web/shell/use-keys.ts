// The keys that work on every page: Ctrl+K, `?`, and `g` before the key of a page.
import { useEffect, useRef } from 'react'
import { pathIn, useGo } from '../navigation.tsx'
import { mainPages } from './main-pages.ts'
import { useManages, useWorkspace } from './workspace-context.ts'

/** True while the reader writes text, or a dialog has the keys. */
export function isWriting({ target }: KeyboardEvent): boolean {
  return (target as HTMLElement).closest?.('input, textarea, select, [contenteditable], dialog, [role=menu]') != null
}

export function useKeys(open: (what: 'find' | 'shortcuts') => void): void {
  const go = useGo()
  const { team } = useWorkspace()
  const manages = useManages()
  const before = useRef('')
  useEffect(() => {
    function press(event: KeyboardEvent): void {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        open('find')
        return
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event)) return
      const target = before.current === 'g' && mainPages(team, manages).find(({ key }) => key === event.key)
      before.current = event.key
      if (target) go(pathIn(team, target.page))
      else if (event.key === '?') open('shortcuts')
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [go, open, team, manages])
}

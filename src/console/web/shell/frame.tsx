// The shell: banner, navigation, page, and the keys that work everywhere.
import { Search } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { InFrame } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { words } from '../words/words.ts'
import { AccountMenu } from './account-menu.tsx'
import styles from './frame.module.css'
import { LiveStatus } from './live-status.tsx'
import { MainNavigation } from './main-navigation.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { useKeys } from './use-keys.ts'
import { WorkspaceMenu } from './workspace-menu.tsx'

const loadFind = async () => ({ default: (await import('../find/find.tsx')).Find })
const Find = lazy(loadFind)
/**
 * A page is whole without its warnings, so it stays if they cannot be loaded. `await` in place of `then`: Vite loads the style sheet outside of
 * a `then` that follows the import, so that one would not see its failure.
 */
const Attention = lazy(async (): Promise<{ default: () => ReactNode }> => {
  try {
    return { default: (await import('../attention/attention.tsx')).Attention }
  } catch {
    return { default: () => null }
  }
})
/** After the first page has come. Find is loaded then, so that it opens at once. */
const othersAfterMs = 1_500

export function Banner({ children }: { children?: ReactNode }) {
  return <header className={styles.banner}>{children}</header>
}

export function Frame({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState<'find' | 'shortcuts' | null>(null)
  useKeys(setOpen)
  const close = () => setOpen(null)
  const [others, setOthers] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => {
      setOthers(true)
      // Opening it tries again.
      loadFind().catch(() => {})
    }, othersAfterMs)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#main">
        {words.skip}
      </a>
      <Banner>
        <WorkspaceMenu />
        <button
          type="button"
          className={`${parts.button} ${styles.find}`}
          aria-label={words.find.name}
          onClick={() => setOpen('find')}
        >
          <Search size={15} aria-hidden />
          <span className={styles.findText}>{words.find.name}</span>
          <kbd className={`${parts.kbd} ${styles.findText}`}>Ctrl K</kbd>
        </button>
        <div className={styles.end}>
          <LiveStatus />
          <button
            type="button"
            className={`${parts.button} ${parts.quiet} ${styles.keys}`}
            aria-label={words.shell.shortcuts}
            onClick={() => setOpen('shortcuts')}
          >
            ?
          </button>
          <AccountMenu />
        </div>
      </Banner>
      <MainNavigation />
      <main id="main" tabIndex={-1} className={styles.main}>
        <InFrame value={true}>{children}</InFrame>
      </main>
      {others && (
        <Suspense>
          <Attention />
        </Suspense>
      )}
      {open === 'find' && (
        <Suspense>
          <Find close={close} />
        </Suspense>
      )}
      {open === 'shortcuts' && <Shortcuts close={close} />}
    </div>
  )
}

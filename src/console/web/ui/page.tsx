// A page: its one heading, its actions, and its content. Moves the focus to the heading, so that screen readers say where one is.
import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react'
import { words } from '../words/words.ts'
import styles from './page.module.css'
import parts from './parts.module.css'

/** True within the frame of a workspace, which has the `main` landmark. */
export const InFrame = createContext(false)

interface PageProps {
  title: string
  /** Beside the heading. */
  actions?: ReactNode
  children: ReactNode
  /** A narrow page has a comfortable line length. */
  narrow?: boolean
}

/** The address of the page before; undefined for the first one, which the browser announces itself. */
let before: string | undefined

export function Page({ title, actions, children, narrow = false }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · ${words.product}`
  }, [title])
  useEffect(() => {
    const { pathname } = location
    const focused = document.activeElement
    // A page may take the place of one that said that it loads, and the reader may have gone on meanwhile.
    const isMoved = pathname !== before || focused === document.body
    // A field may have taken the focus.
    if (before !== undefined && isMoved && !focused?.closest('main')) heading.current?.focus({ preventScroll: true })
    before = pathname
  }, [])
  const content = (
    <div className={`${styles.page} ${narrow ? styles.narrow : ''}`}>
      <div className={parts.head}>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions && <div className={parts.row}>{actions}</div>}
      </div>
      {children}
    </div>
  )
  return useContext(InFrame) ? (
    content
  ) : (
    <main className={styles.alone}>
      <p className={parts.hint}>{words.product}</p>
      {content}
    </main>
  )
}

// A modal dialog by the browser's own element, which traps the focus, gives it back, and closes with Escape.
import { X } from 'lucide-react'
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { words } from '../words/words.ts'
import styles from './dialog.module.css'
import parts from './parts.module.css'

interface DialogProps {
  title: string
  close: () => void
  children: ReactNode
  /** Hides the title, which is announced all the same. */
  bare?: boolean
  /** True while a request is under way whose answer is shown only once, and here: nothing closes the dialog meanwhile. */
  held?: boolean
}

/** Open as long as it is rendered. */
export function Dialog({ title, close, children, bare = false, held = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  // A press inside that is released outside, or on what came in the place of what was pressed, is a click on the dialog, too.
  const pressedOutside = useRef(false)
  // Closed before it leaves the page: the browser gives the focus back only from a dialog that is still there.
  useLayoutEffect(() => {
    const opened = element.current
    opened?.showModal()
    // The browser would take the button that closes it.
    opened?.querySelector<HTMLElement>('input, select, textarea')?.focus()
    return () => opened?.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it already; the click is one on the backdrop.
    <dialog
      ref={element}
      className={styles.dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        // A file field emits the same event when its choice is cancelled.
        if (event.target !== element.current) return
        event.preventDefault()
        if (!held) close()
      }}
      // The browser closes it at the second Escape, whatever the page says.
      onClose={(event) => {
        if (event.target === element.current && held) element.current.showModal()
      }}
      onPointerDown={(event) => {
        pressedOutside.current = event.target === element.current
      }}
      onClick={(event) => !held && pressedOutside.current && event.target === element.current && close()}
    >
      <div className={styles.inside}>
        <div className={bare ? parts.unseen : styles.head}>
          <h2 id={id}>{title}</h2>
          {!bare && (
            <button
              type="button"
              className={`${parts.button} ${parts.quiet}`}
              aria-label={words.close}
              disabled={held}
              onClick={close}
            >
              <X size={16} aria-hidden />
            </button>
          )}
        </div>
        {children}
      </div>
    </dialog>
  )
}

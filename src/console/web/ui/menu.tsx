// A menu that a button opens, by the browser's own popover: Escape and a click elsewhere close it.
import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react'
import styles from './menu.module.css'
import parts from './parts.module.css'

interface MenuProps {
  /** The accessible name of the button. */
  name: string
  /** The content of the button. */
  face: ReactNode
  /** The items: elements with the role `menuitem`. */
  children: ReactNode
  side?: 'start' | 'end'
}

export function Menu({ name, face, children, side = 'start' }: MenuProps) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const items = () => [...(list.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])]

  function move(event: KeyboardEvent): void {
    const all = items()
    const at = all.indexOf(document.activeElement as HTMLElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key]
    if (event.key === 'Tab') list.current?.hidePopover()
    if (to === undefined) return
    event.preventDefault()
    all[to % all.length]?.focus()
  }

  return (
    <div className={styles.menu}>
      <button
        type="button"
        className={`${parts.button} ${parts.quiet}`}
        popoverTarget={id}
        aria-haspopup="menu"
        aria-label={name}
      >
        {face}
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={name}
        className={`${styles.list} ${side === 'end' ? styles.end : ''}`}
        onKeyDown={move}
        onToggle={({ newState }) => newState === 'open' && items()[0]?.focus()}
        onClick={() => list.current?.hidePopover()}
      >
        {children}
      </div>
    </div>
  )
}

export const menuItem = styles.item

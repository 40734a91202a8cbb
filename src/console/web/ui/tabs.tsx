// Tabs, by the pattern of the ARIA guide: arrows move, the panel follows.
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react'
import styles from './tabs.module.css'

export function Tabs({ name, tabs }: { name: string; tabs: readonly { title: string; panel: ReactNode }[] }) {
  const [open, setOpen] = useState(0)
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  function move(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: tabs.length - 1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = (open + step) % tabs.length
    setOpen(next)
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus()
  }
  return (
    <div>
      <div ref={list} role="tablist" tabIndex={-1} aria-label={name} className={styles.list} onKeyDown={move}>
        {tabs.map(({ title }, n) => (
          <button
            key={title}
            type="button"
            role="tab"
            id={`${id}-tab-${n}`}
            aria-controls={`${id}-panel`}
            aria-selected={n === open}
            tabIndex={n === open ? 0 : -1}
            className={styles.tab}
            onClick={() => setOpen(n)}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${open}`}>
        {tabs[open]?.panel}
      </div>
    </div>
  )
}

// The navigation of a workspace: all pages at the side, or on narrow screens the first ones below, and a button for the others.
import { Ellipsis } from 'lucide-react'
import { useEffect, useState } from 'react'
import { pathIn, To, usePath } from '../navigation.tsx'
import { words } from '../words/words.ts'
import styles from './main-navigation.module.css'
import { pageGroups } from './main-pages.ts'
import { useManages, useWorkspace } from './workspace-context.ts'

export function MainNavigation() {
  const { team } = useWorkspace()
  const manages = useManages()
  const path = usePath()
  const [open, setOpen] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the list.
  useEffect(() => setOpen(false), [path])
  useEffect(() => {
    if (!open) return
    const press = ({ key }: KeyboardEvent) => key === 'Escape' && setOpen(false)
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [open])
  const [first = [], ...others] = pageGroups(team, manages).map((group) =>
    group.map(({ page, name, Icon }) => (
      <To key={page} to={pathIn(team, page)} className={styles.link}>
        <Icon size={18} aria-hidden />
        {name}
      </To>
    )),
  )
  return (
    <nav className={styles.nav} aria-label={words.nav.main}>
      <div className={`${styles.group} ${styles.first}`}>{first}</div>
      <button
        type="button"
        className={`${styles.link} ${styles.more}`}
        aria-expanded={open}
        aria-controls="more-pages"
        aria-label={words.nav.more}
        onClick={() => setOpen(!open)}
      >
        <Ellipsis size={18} aria-hidden />
      </button>
      <div id="more-pages" className={styles.others} data-open={open || undefined}>
        {others.map((group) => (
          <div key={group[0]?.key} className={styles.group}>
            {group}
          </div>
        ))}
      </div>
    </nav>
  )
}

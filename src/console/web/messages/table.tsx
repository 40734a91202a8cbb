// The table of messages: read by pointer or by the keys j, k, Enter and x.
import { type MouseEvent, type ReactNode, useEffect, useRef } from 'react'
import type { LiveRowFragment } from '../generated/messages/graphql.ts'
import { useInstances } from '../graph/use-instances.ts'
import { pathIn } from '../navigation.tsx'
import { isWriting } from '../shell/use-keys.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import parts from '../ui/parts.module.css'
import { words } from '../words/words.ts'
import styles from './list.module.css'
import { MessageRow } from './row.tsx'

interface TableProps {
  rows: readonly LiveRowFragment[]
  loading: boolean
  /** The rows could not be read, so nobody knows whether there are any. */
  failed: boolean
  selected: ReadonlySet<string>
  setSelected: (selected: ReadonlySet<string>) => void
  /** The button for new rows. Its place is kept, so that the table does not move. */
  above: ReactNode
  empty: ReactNode
}

export function MessageTable({ rows, loading, failed, selected, setSelected, above, empty }: TableProps) {
  const { team } = useWorkspace()
  const names = new Map(useInstances().map(({ id, name }) => [id, name]))
  const body = useRef<HTMLTableSectionElement>(null)
  const last = useRef<string | null>(null)
  const { messages } = words

  function toggle(id: string, range: boolean): void {
    const next = new Set(selected)
    const ids = rows.map((row) => row.id)
    const [from, to] = [ids.indexOf(last.current ?? id), ids.indexOf(id)].sort((a, b) => a - b) as [number, number]
    const turnOn = !selected.has(id)
    for (const each of range && from >= 0 ? ids.slice(from, to + 1) : [id]) {
      if (turnOn) next.add(each)
      else next.delete(each)
    }
    last.current = id
    setSelected(next)
  }
  // Rows are memoised, so they get functions that stay the same.
  const latest = useRef(toggle)
  useEffect(() => {
    latest.current = toggle
  })
  const select = useRef((id: string, event: MouseEvent) => latest.current(id, event.shiftKey)).current

  useEffect(() => {
    const links = () => [...(body.current?.querySelectorAll<HTMLElement>('a[data-row]') ?? [])]
    function press(event: KeyboardEvent): void {
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event)) return
      const all = links()
      const at = all.findIndex((link) => link.closest('tr')?.contains(document.activeElement))
      if (event.key === 'j') all[Math.min(at + 1, all.length - 1)]?.focus()
      else if (event.key === 'k') all[Math.max(at - 1, 0)]?.focus()
      else if (event.key === 'x' && all[at]) latest.current(all[at].dataset.row as string, event.shiftKey)
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])

  return (
    <div className={`${parts.panel} ${styles.list}`}>
      <div className={styles.above}>{above}</div>
      <table className={styles.table} aria-label={messages.table} aria-busy={loading}>
        <thead>
          <tr className={styles.head}>
            <th scope="col">
              <span className={parts.unseen}>{messages.select}</span>
            </th>
            <th scope="col">{messages.time}</th>
            <th scope="col">{messages.party}</th>
            <th scope="col">{messages.typeColumn}</th>
            <th scope="col">{messages.instance}</th>
            <th scope="col">{messages.status}</th>
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row) => (
            <MessageRow
              key={row.id}
              row={row}
              instance={names.get(row.instanceId) ?? words.none}
              href={pathIn(team, `messages/${row.id}`)}
              selected={selected.has(row.id)}
              select={select}
            />
          ))}
        </tbody>
      </table>
      {rows.length === 0 && (
        <div className={`${parts.empty} ${styles.nothing}`}>{loading ? <p>{words.loading}</p> : failed ? words.none : empty}</div>
      )}
    </div>
  )
}

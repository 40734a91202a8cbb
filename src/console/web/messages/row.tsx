// One row of the list. It renders again only when its message changes.
import { type MouseEvent, memo } from 'react'
import type { LiveRowFragment } from '../generated/messages/graphql.ts'
import { To } from '../navigation.tsx'
import { Status } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { words } from '../words/words.ts'
import styles from './list.module.css'

interface RowProps {
  row: LiveRowFragment
  /** The name of its instance. */
  instance: string
  href: string
  selected: boolean
  select: (id: string, event: MouseEvent) => void
}

export const MessageRow = memo(function MessageRow({ row, instance, href, selected, select }: RowProps) {
  const party = row.direction === 'inbound' ? row.from : row.to
  return (
    <tr className={styles.row} data-selected={selected || undefined}>
      <td className={styles.check}>
        <input
          type="checkbox"
          aria-label={`${words.messages.select} ${party}`}
          checked={selected}
          onClick={(event) => select(row.id, event)}
          readOnly
        />
      </td>
      <td className={styles.time}>
        <Time at={row.createdAt} />
      </td>
      <td className={styles.party}>
        <To to={href} data-row={row.id} className={styles.link}>
          {party}
        </To>
        <span className={styles.body}>{row.body}</span>
      </td>
      <td className={styles.type}>{words.type[row.type]}</td>
      <td className={styles.instance}>{instance}</td>
      <td className={styles.state}>
        <Status status={row.status} />
      </td>
    </tr>
  )
})

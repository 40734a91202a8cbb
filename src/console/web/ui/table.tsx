// A named table. On a narrow page each row becomes a block whose values carry the names of their columns.
import { createContext, type ReactNode, useContext } from 'react'
import { words } from '../words/words.ts'
import parts from './parts.module.css'
import styles from './table.module.css'

const Columns = createContext<readonly string[]>([])

interface TableProps {
  name: string
  /** The heads of the columns. */
  columns: readonly string[]
  loading: boolean
  /** The rows could not be read, so nobody knows whether there are any. */
  failed?: boolean
  /** Shown in place of rows when there are none. */
  empty: ReactNode
  /** `Row`s. */
  children: readonly ReactNode[]
}

export function Table({ name, columns, loading, failed = false, empty, children }: TableProps) {
  return (
    <div className={`${parts.panel} ${styles.around}`}>
      <table className={styles.table} aria-label={name} aria-busy={loading}>
        {/* Its columns find their places with the first rows. */}
        <thead className={loading && children.length === 0 ? styles.waiting : undefined}>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Columns value={columns}>{children}</Columns>
        </tbody>
      </table>
      {children.length === 0 && (
        <div className={parts.empty}>{loading ? <p key="loading">{words.loading}</p> : failed ? words.none : empty}</div>
      )}
    </div>
  )
}

/** One row. The first cell names it; it should hold the link to the record's page, if there is one. */
export function Row({ cells }: { cells: readonly ReactNode[] }) {
  const columns = useContext(Columns)
  return (
    <tr>
      {cells.map((cell, n) => (
        <td key={columns[n]} data-column={columns[n]} className={wrapOf(cell)}>
          {cell}
        </td>
      ))}
    </tr>
  )
}

/** No line may break a phone number, nor a word that is not too long: a long name beside it would take its room. */
function wrapOf(cell: ReactNode): string | undefined {
  if (typeof cell !== 'string') return undefined
  if (/^\+\d+$/.test(cell)) return styles.whole
  return /\S{17}/.test(cell) ? undefined : styles.words
}

// The button below a list that has further rows.
import { words } from '../words/words.ts'
import parts from './parts.module.css'

export function More({ list: { more, loading, loadMore } }: { list: { more: boolean; loading: boolean; loadMore: () => void } }) {
  if (!more) return null
  return (
    <div className={parts.row}>
      <button type="button" className={parts.button} disabled={loading} onClick={loadMore}>
        {words.actions.more}
      </button>
    </div>
  )
}

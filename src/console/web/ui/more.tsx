// The button below a list that has further rows.
import { words } from '../words/words.ts'
import parts from './parts.module.css'
import { useTask } from './use-task.ts'

interface MoreProps {
  list: { more: boolean; loading: boolean; loadMore: () => Promise<void> }
}

export function More({ list: { more, loading, loadMore } }: MoreProps) {
  const { run, running } = useTask(loadMore)
  if (!more) return null
  return (
    <div className={parts.row}>
      <button type="button" className={parts.button} disabled={loading || running} onClick={() => run()}>
        {words.actions.more}
      </button>
    </div>
  )
}

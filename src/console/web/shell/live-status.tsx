// Says in a word whether the page follows what happens.
import { count, words } from '../words/words.ts'
import styles from './live-status.module.css'
import { useLiveState, useWorkspace } from './workspace-context.ts'

export function LiveStatus() {
  const state = useLiveState()
  const { paused } = useWorkspace()
  const text = {
    live: () => (paused ? words.live.paused : words.live.live),
    reconnecting: () => words.live.reconnecting,
    catching: () => words.live.catching(state.kind === 'catching' ? count(state.events) : ''),
  }[state.kind]()
  return (
    <span role="status" aria-label={words.live.name} className={`${styles.live} ${styles[state.kind]}`}>
      <span className={styles.text}>{text}</span>
    </span>
  )
}

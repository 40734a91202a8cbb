// Says why something was refused: our words for the code, and the server's sentence.
import { ApiError } from '../session/auth-call.ts'
import { words } from '../words/words.ts'
import styles from './parts.module.css'

/** Our words for the code of an error, or the server's own. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof ApiError)) return words.errors.INTERNAL_ERROR
  const known: Partial<Record<string, string>> = words.errors
  return known[error.code] ?? error.message
}

/** Announced when it appears. A list of faulty fields is shown beside the fields instead. */
export function Refusal({ error }: { error: unknown }) {
  if (!error) return null
  const isSaid = error instanceof ApiError && reasonOf(error).startsWith(error.message)
  const detail = error instanceof ApiError && !isSaid && error.issues.length === 0 ? error.message : ''
  return (
    <div role="alert" className={`${styles.note} ${styles.refused}`}>
      {reasonOf(error)}
      {detail && <div className={styles.hint}>{detail}</div>}
    </div>
  )
}

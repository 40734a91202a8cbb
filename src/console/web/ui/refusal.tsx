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

/** Announced when it appears. A list of faulty fields is shown beside the fields instead: `fields` are the names of those that show theirs. */
export function Refusal({ error, fields = [] }: { error: unknown; fields?: readonly string[] }) {
  if (!error) return null
  const issues = error instanceof ApiError ? error.issues : []
  const isBeside = issues.length > 0 && issues.every(({ path }) => fields.includes(path))
  const reason = isBeside ? words.errors.VALIDATION_ERROR : reasonOf(error)
  const isSaid = error instanceof ApiError && reason.startsWith(error.message)
  const detail = error instanceof ApiError && !isSaid && issues.length === 0 ? error.message : ''
  return (
    <div role="alert" className={`${styles.note} ${styles.refused}`}>
      {reason}
      {detail && <div className={styles.hint}>{detail}</div>}
    </div>
  )
}

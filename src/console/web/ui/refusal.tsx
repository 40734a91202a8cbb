// Says why something was refused: our words for the code, and the server's sentence.
import { useEffect, useState } from 'react'
import { ApiError } from '../session/auth-call.ts'
import { words } from '../words/words.ts'
import styles from './parts.module.css'

/** Words by code. */
export type Reasons = Partial<Record<string, string>>

/** Our words for the code of an error, or the server's own. `further` has the words that are not loaded with the first page. */
export function reasonOf(error: unknown, further: Reasons = {}): string {
  if (!(error instanceof ApiError)) return words.errors.INTERNAL_ERROR
  const known: Reasons = words.errors
  return known[error.code] ?? further[error.code] ?? error.message
}

/** The warnings of the shell load these words, too, so that they are there before most refusals. */
async function loadReasons(): Promise<Reasons> {
  try {
    return (await import('../refusals/words.ts')).text
  } catch {
    return {}
  }
}

interface RefusalProps {
  error: unknown
  /** The names of the fields that show their faults: a list of faulty fields is shown beside them instead. */
  fields?: readonly string[]
  /** The page's own text for codes of errors, shown in place of the gateway's message. */
  reasons?: Reasons
}

/** Announced when it appears. */
export function Refusal({ error, fields = [], reasons = {} }: RefusalProps) {
  const [further, setFurther] = useState<Reasons>()
  const own = error instanceof ApiError ? reasons[error.code] : undefined
  const isKnown = !(error instanceof ApiError) || own !== undefined || error.code in words.errors
  useEffect(() => {
    if (!isKnown) void loadReasons().then(setFurther)
  }, [isKnown])
  if (!error || !(isKnown || further)) return null
  const issues = error instanceof ApiError ? error.issues : []
  const isBeside = issues.length > 0 && issues.every(({ path }) => fields.includes(path))
  const reason = own ?? (isBeside ? words.errors.VALIDATION_ERROR : reasonOf(error, further))
  const isSaid = own !== undefined || (error instanceof ApiError && reason.startsWith(error.message))
  const detail = error instanceof ApiError && !isSaid && issues.length === 0 ? error.message : ''
  return (
    <div role="alert" className={`${styles.note} ${styles.refused}`}>
      {reason}
      {detail && <div className={styles.hint}>{detail}</div>}
    </div>
  )
}

// The statuses of a message with the time between them, and what it waits for now.
import type { MessageQuery } from '../generated/messages/graphql.ts'
import { Status } from '../ui/status.tsx'
import { duration, exactTime, Time } from '../ui/time.tsx'
import { words } from '../words/words.ts'
import styles from './message.module.css'
import { text } from './words.ts'

type TimedMessage = Pick<
  NonNullable<MessageQuery['message']>,
  'timeline' | 'status' | 'direction' | 'scheduledAt' | 'waitsFor' | 'stalled'
>

export function Timeline({ message }: { message: TimedMessage }) {
  const wait = waitOf(message)
  return (
    <>
      <ol aria-label={words.message.timeline} className={styles.steps}>
        {message.timeline.map(({ status, at, afterMs }, n) => (
          <li key={status} className={styles.step}>
            <Status status={status} />
            {n > 0 && <span className={styles.took}>{words.message.after(duration(afterMs))}</span>}
            <Time at={at} exact />
          </li>
        ))}
      </ol>
      <p role="status" className={wait ? styles.waits : undefined}>
        {wait}
      </p>
    </>
  )
}

/** In words, what the message waits for; empty if for nothing. */
function waitOf({ status, direction, waitsFor, stalled }: TimedMessage): string {
  if (direction !== 'outbound') return ''
  if (status === 'sent' || status === 'delivered') return text[status]
  if (!waitsFor) return ''
  const { reason, until, expiresAt } = waitsFor
  const isPlanned = reason === 'schedule' || !expiresAt
  return [
    text.waitsFor[reason],
    until && text.until(exactTime(until)),
    stalled && text.stalled,
    !isPlanned && text.expires(exactTime(expiresAt)),
  ]
    .filter(Boolean)
    .join(' ')
}

// The statuses of a message with the time between them, and what it waits for now.
import type { LiveRowFragment } from '../generated/messages/graphql.ts'
import { Status } from '../ui/status.tsx'
import { duration, exactTime, Time } from '../ui/time.tsx'
import { words } from '../words/words.ts'
import styles from './message.module.css'

export function Timeline({ message: { timeline, status, direction, scheduledAt } }: { message: LiveRowFragment }) {
  const { waits } = words.message
  const isPlanned = status === 'queued' && scheduledAt && Date.parse(scheduledAt) > Date.now()
  const known: Partial<Record<string, string>> = {
    queued: waits.queued,
    sending: waits.sending,
    sent: waits.sent,
    delivered: waits.delivered,
  }
  const wait = isPlanned ? waits.scheduled(exactTime(scheduledAt)) : direction === 'outbound' ? known[status] : undefined
  return (
    <>
      <ol aria-label={words.message.timeline} className={styles.steps}>
        {timeline.map(({ status, at, afterMs }, n) => (
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

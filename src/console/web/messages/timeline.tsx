// The statuses of a message with the time between them, and what it waits for now.
import type { LiveRowFragment } from '../generated/graphql.ts'
import { Status } from '../ui/status.tsx'
import { duration, exactTime, Time } from '../ui/time.tsx'
import { words } from '../words/words.ts'
import styles from './message.module.css'

export function Timeline({ message: { timeline, status, direction, scheduledAt } }: { message: LiveRowFragment }) {
  const steps = [...timeline].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
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
        {steps.map((step, n) => {
          const before = steps[n - 1]
          return (
            <li key={step.status} className={styles.step}>
              <Status status={step.status} />
              {before && (
                <span className={styles.took}>{words.message.after(duration(Date.parse(step.at) - Date.parse(before.at)))}</span>
              )}
              <Time at={step.at} exact />
            </li>
          )
        })}
      </ol>
      <p role="status" className={wait ? styles.waits : undefined}>
        {wait}
      </p>
    </>
  )
}

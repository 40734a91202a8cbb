// A checkbox for each event that webhooks can receive.
import type { EventType } from '../generated/webhooks/graphql.ts'
import { webhookEvents } from '../graph/event-types.ts'
import type { Issue } from '../session/auth-call.ts'
import parts from '../ui/parts.module.css'
import { words } from '../words/words.ts'
import styles from './webhooks.module.css'
import { text } from './words.ts'

export function EventBoxes({ chosen, issues }: { chosen: readonly EventType[]; issues: readonly Issue[] }) {
  const fault = issues.find(({ path }) => path.startsWith('events'))?.message
  return (
    <fieldset className={styles.events} aria-describedby={fault ? 'events-fault' : undefined}>
      <legend className={parts.label}>{text.events}</legend>
      {webhookEvents.map((event) => (
        <label key={event} className={parts.row}>
          <input type="checkbox" name="events" value={event} defaultChecked={chosen.includes(event)} />
          {words.event[event]}
        </label>
      ))}
      {fault && (
        <div id="events-fault" className={parts.fault}>
          {fault}
        </div>
      )}
    </fieldset>
  )
}

/** The events that are ticked in a form. */
export function eventsIn(fields: FormData): EventType[] {
  return fields.getAll('events') as EventType[]
}

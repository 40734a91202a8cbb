// The webhook deliveries of a message, with their outcomes.
import { MessageDeliveriesDocument } from '../generated/messages/graphql.ts'
import { useList } from '../graph/use-list.ts'
import { useRefresh } from '../graph/use-refresh.ts'
import { pathIn, To } from '../navigation.tsx'
import { useFrames, useWorkspace } from '../shell/workspace-context.ts'
import { More } from '../ui/more.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Time } from '../ui/time.tsx'
import { words } from '../words/words.ts'
import styles from './message.module.css'

export function Deliveries({ id }: { id: string }) {
  const { team } = useWorkspace()
  const list = useList(
    MessageDeliveriesDocument,
    { id, first: 20 },
    (data) => data.message?.deliveries,
    (delivery) => delivery.id,
  )
  const { rows, error, refresh } = list
  // A delivery has no event of its own; each event of the message makes one, and its outcome comes later.
  useFrames((events) => {
    if (events.some(({ message }) => message?.id === id)) refresh()
  })
  const { deliveries } = words.message
  useRefresh(
    rows.some(({ status }) => status === 'pending' || status === 'retrying'),
    refresh,
  )
  return (
    <section className={parts.panel} aria-label={deliveries.title}>
      <div className={parts.panelHead}>
        <h2>{deliveries.title}</h2>
      </div>
      <div className={`${parts.panelBody} ${parts.stack}`}>
        <Refusal error={error} />
        {!list.loading && !error && rows.length === 0 && <p className={parts.hint}>{deliveries.none}</p>}
        <ul className={styles.deliveries}>
          {rows.map(({ id: key, webhookId, event, status, responseCode, error: reason, createdAt }) => (
            <li key={key} className={styles.delivery}>
              <Time at={createdAt} />
              <To to={pathIn(team, `webhooks/${webhookId}/deliveries/${key}`)}>{words.event[event]}</To>
              <span>{[deliveries.status[status], responseCode ?? reason].filter(Boolean).join(', ')}</span>
            </li>
          ))}
        </ul>
        <More list={list} />
      </div>
    </section>
  )
}

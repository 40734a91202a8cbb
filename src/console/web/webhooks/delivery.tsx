// One delivery: its payload, and each attempt with the answer of the endpoint.
import { DeliveryDocument, type DeliveryQuery, RedeliverDocument } from '../generated/webhooks/graphql.ts'
import { change } from '../graph/change.ts'
import { useRead } from '../graph/use-read.ts'
import { useRefresh } from '../graph/use-refresh.ts'
import { pathIn, To, usePart } from '../navigation.tsx'
import { NotFound } from '../shell/not-found.tsx'
import { useManages, useWorkspace } from '../shell/workspace-context.ts'
import { Code } from '../ui/code.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { duration, Time } from '../ui/time.tsx'
import { useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import styles from './webhooks.module.css'
import { text } from './words.ts'

type Found = NonNullable<DeliveryQuery['webhookDelivery']>

export function Delivery() {
  const id = usePart('deliveryId')
  const { graph } = useWorkspace()
  const manages = useManages()
  const { data, error, loading, again } = useRead(DeliveryDocument, { id })
  const delivery = data?.webhookDelivery
  const redeliver = useTask(async () => {
    await change(graph, RedeliverDocument, { id })
    again()
  })
  useRefresh(delivery?.status === 'pending' || delivery?.status === 'retrying', again)
  if (!delivery) {
    if (!loading && (error?.code === 'NOT_FOUND' || error?.code === 'VALIDATION_ERROR')) return <NotFound />
    return <Page title={text.delivery}>{error ? <Refusal error={error} /> : words.loading}</Page>
  }
  return (
    <Page
      title={words.event[delivery.event] ?? delivery.event}
      actions={
        manages && (
          <button
            type="button"
            className={`${parts.button} ${delivery.status === 'delivered' ? '' : parts.main}`}
            disabled={redeliver.running || delivery.status === 'pending'}
            onClick={() => redeliver.run()}
          >
            {text.redeliver}
          </button>
        )
      }
    >
      <Refusal error={redeliver.error ?? error} />
      <Facts {...delivery} />
      <section className={parts.panel} aria-label={text.attempts}>
        <div className={parts.panelHead}>
          <h2>{text.attempts}</h2>
        </div>
        <ol className={parts.panelBody} aria-label={text.attempts}>
          {delivery.attemptLog.map((attempt) => (
            <Attempt key={attempt.attempt} {...attempt} />
          ))}
        </ol>
      </section>
      <section className={parts.stack}>
        <h2>{text.body}</h2>
        <Code name={text.body} text={JSON.stringify(delivery.payload, null, 2)} />
      </section>
    </Page>
  )
}

function Facts({ status, createdAt, eventId, messageId, webhook, nextAttemptAt }: Found) {
  const { team } = useWorkspace()
  return (
    <section className={parts.panel} aria-label={text.delivery}>
      <dl className={`${parts.panelBody} ${parts.facts}`}>
        <dt>{text.status}</dt>
        <dd>{words.message.deliveries.status[status]}</dd>
        <dt>{text.created}</dt>
        <dd>
          <Time at={createdAt} exact />
        </dd>
        {nextAttemptAt && (
          <>
            <dt>{text.next}</dt>
            <dd>
              <Time at={nextAttemptAt} exact />
            </dd>
          </>
        )}
        <dt>{text.eventId}</dt>
        <dd>{eventId}</dd>
        {webhook && (
          <>
            <dt>{text.endpoint}</dt>
            <dd>
              <To to={pathIn(team, `webhooks/${webhook.id}`)}>{webhook.url}</To>
            </dd>
          </>
        )}
        {messageId && (
          <>
            <dt>{text.message}</dt>
            <dd>
              <To to={pathIn(team, `messages/${messageId}`)}>{messageId}</To>
            </dd>
          </>
        )}
      </dl>
    </section>
  )
}

function Attempt({ attempt, at, durationMs, responseCode, error, reason, answer, headers }: Found['attemptLog'][number]) {
  return (
    <li className={styles.attempt}>
      <div>
        {text.attempt(attempt)}: <strong>{responseCode ?? error}</strong>, <Time at={at} exact />, {duration(durationMs)}
      </div>
      {reason && <div>{reason}</div>}
      {answer && <Code name={`${text.answer} ${attempt}`} text={answer} />}
      {headers !== null && (
        <details>
          <summary>{text.headers}</summary>
          <Code name={`${text.headers} ${attempt}`} text={JSON.stringify(headers, null, 2)} />
        </details>
      )}
    </li>
  )
}

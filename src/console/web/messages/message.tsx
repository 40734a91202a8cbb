// One message: its progress, the reason of a wait or a failure, and the same call as code.
import { text as failures } from '../failures/words.ts'
import { CancelMessageDocument, MessageDocument, type MessageQuery } from '../generated/messages/graphql.ts'
import { change } from '../graph/change.ts'
import { useRead } from '../graph/use-read.ts'
import { useRefresh } from '../graph/use-refresh.ts'
import { pathIn, To, useGo, usePart } from '../navigation.tsx'
import { NotFound } from '../shell/not-found.tsx'
import { useFrames, useWorkspace } from '../shell/workspace-context.ts'
import { Code } from '../ui/code.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Status } from '../ui/status.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { useTask } from '../ui/use-task.ts'
import { warningIn } from '../warnings/warning-in.ts'
import { words } from '../words/words.ts'
import { codeOf, type Sending } from './call-as-code.ts'
import { Deliveries } from './deliveries.tsx'
import { fieldsOf } from './fields-of.ts'
import styles from './message.module.css'
import { Timeline } from './timeline.tsx'

export type ShownMessage = NonNullable<MessageQuery['message']>

export function Message() {
  const id = usePart('messageId')
  const { data, error, loading, again } = useRead(MessageDocument, { id })
  // Events tell neither what a message waits for nor the words of the network.
  useFrames((events) => {
    if (events.some(({ message }) => message?.id === id)) again()
  })
  // The reason for its wait changes without an event.
  const status = data?.message?.direction === 'outbound' ? data.message.status : undefined
  useRefresh(status === 'queued' || status === 'sending', again)
  if (data?.message) return <Shown message={data.message} />
  if (error && error.code !== 'NOT_FOUND' && error.code !== 'VALIDATION_ERROR') {
    return (
      <Page title={words.message.title}>
        <Refusal error={error} />
      </Page>
    )
  }
  if (loading) {
    return (
      <Page title={words.message.title}>
        <p role="status">{words.loading}</p>
      </Page>
    )
  }
  return <NotFound />
}

function Shown({ message }: { message: ShownMessage }) {
  const { team, graph } = useWorkspace()
  const go = useGo()
  const cancel = useTask(() => change(graph, CancelMessageDocument, { id: message.id }))
  const sent = message.direction === 'outbound'
  return (
    <Page
      title={words.message.title}
      actions={
        <>
          {message.status === 'queued' && (
            <button
              type="button"
              className={`${parts.button} ${parts.danger}`}
              disabled={cancel.running}
              onClick={() => cancel.run()}
            >
              {words.message.cancel}
            </button>
          )}
          {sent && (
            <button type="button" className={parts.button} onClick={() => go(pathIn(team, 'send'), repeatOf(message))}>
              {words.message.again}
            </button>
          )}
        </>
      }
    >
      <Refusal error={cancel.error} />
      <div className={styles.columns}>
        <div className={parts.stack}>
          <section className={parts.panel} aria-label={words.message.timeline}>
            <div className={parts.panelHead}>
              <h2>{words.message.timeline}</h2>
              <Status status={message.status} />
            </div>
            <div className={parts.panelBody}>
              <Timeline message={message} />
            </div>
          </section>
          {message.status === 'failed' && <Failure message={message} />}
          {message.body && (
            <div className={parts.panel}>
              <p className={`${parts.panelBody} ${styles.body}`}>{message.body}</p>
            </div>
          )}
          {sent && <SameCall message={message} />}
        </div>
        <div className={parts.stack}>
          <Details message={message} />
          <Deliveries id={message.id} />
        </div>
      </div>
    </Page>
  )
}

/** The values that the page for sending is filled with. */
function repeatOf(message: ShownMessage): Record<string, string> {
  const { mediaUrl, buttons, ...fields } = fieldsOf(message) ?? {}
  return {
    instance: message.instanceId,
    type: message.type,
    number: message.to,
    ...(mediaUrl && { file: mediaUrl }),
    ...(buttons && { buttons: buttons.map(({ displayText }) => displayText).join('\n') }),
    ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)])),
  }
}

function Failure({ message: { error, errorCode, errorDetail } }: { message: ShownMessage }) {
  const [reason, advice] = failures.byCode[errorCode ?? ''] ?? failures.other
  return (
    <section className={`${parts.note} ${parts.refused} ${parts.stack}`} aria-label={words.message.why}>
      <div>
        <h2>{reason}</h2>
        <p>{advice}</p>
        <p className={parts.hint}>
          <code>{error}</code> {errorDetail}
        </p>
      </div>
    </section>
  )
}

function SameCall({ message }: { message: ShownMessage }) {
  const fields = fieldsOf(message)
  if (!fields) return null
  const sending: Sending = { instanceId: message.instanceId, to: message.to, type: message.type, ...fields }
  return (
    <section aria-label={words.message.code}>
      <Tabs
        name={words.message.code}
        tabs={codeOf(sending).map(({ title, text }) => ({ title, panel: <Code name={title} text={text} /> }))}
      />
      <p className={parts.hint}>{words.message.codeNote}</p>
    </section>
  )
}

function Details({ message }: { message: ShownMessage }) {
  const { team } = useWorkspace()
  const { message: text } = words
  const page = (path: string, name: string) => (
    <To key={path} to={pathIn(team, path)}>
      {name}
    </To>
  )
  const rows = [
    [text.id, <code key="id">{message.id}</code>],
    [
      text.to,
      <To key="to" to={pathIn(team, 'messages')} search={{ number: message.to }}>
        {message.to}
      </To>,
    ],
    message.from && [text.from, message.from],
    [text.instance, page(`instances/${message.instance.id}`, message.instance.name)],
    message.contact && [text.contact, page(`contacts/${message.contact.id}`, message.contact.name)],
    message.campaign && [text.campaign, page(`campaigns/${message.campaign.id}`, message.campaign.name)],
    message.mediaUrl && [text.file, <FileLink key="file" url={message.mediaUrl} />],
    message.reference && [text.reference, message.reference],
    message.providerMessageId && [text.providerId, <code key="provider">{message.providerMessageId}</code>],
    [text.safety, words.safety.of(words.safety.states[message.safety.state], message.safety.score)],
    message.warnings.length > 0 && [text.warnings, message.warnings.map(warningIn).join(' ')],
  ].filter((row) => Array.isArray(row))
  return (
    <section className={parts.panel} aria-label={text.details}>
      <div className={parts.panelHead}>
        <h2>{text.details}</h2>
        <CopyButton text={JSON.stringify(message, null, 2)} label={text.raw} />
      </div>
      <dl className={`${parts.panelBody} ${parts.details}`}>
        {rows.map(([name, value]) => (
          <div key={String(name)} className={styles.pair}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

/** Files of other servers are never loaded by the page: the link shows where it leads. */
function FileLink({ url }: { url: string }) {
  const { host } = new URL(url, location.origin)
  return (
    <a href={url} rel="noreferrer noopener" target="_blank">
      {host}
    </a>
  )
}

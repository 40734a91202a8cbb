// The start page: the first steps until a message was delivered, then the messages of today.
import { Circle, CircleCheck } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { CreateFirstKeyDocument, HomeDocument } from '../generated/home/graphql.ts'
import { newIdempotencyKey } from '../graph/change.ts'
import { ask } from '../graph/request.ts'
import { useInstances } from '../graph/use-instances.ts'
import { useRead } from '../graph/use-read.ts'
import { codeOf } from '../messages/call-as-code.ts'
import { pathIn, To } from '../navigation.tsx'
import { useFrames, useWorkspace } from '../shell/workspace-context.ts'
import { Code } from '../ui/code.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import styles from './home.module.css'
import { Today } from './today.tsx'
import { text as home } from './words.ts'

export function Home() {
  const { data, error, loading } = useRead(HomeDocument, {})
  const [seen, setSeen] = useState({ sent: false, delivered: false })
  // A new event ticks its step without another request.
  useFrames((events) => {
    const statuses = events.flatMap(({ message }) => (message?.direction === 'outbound' ? [message.status] : []))
    if (statuses.length === 0) return
    const delivered = statuses.some((status) => status === 'delivered' || status === 'read')
    if (!seen.sent || (delivered && !seen.delivered))
      setSeen((before) => ({ sent: true, delivered: before.delivered || delivered }))
  })
  const before = Boolean(data?.delivered.nodes.length || data?.read.nodes.length)
  return (
    <Page title={home.title}>
      <Refusal error={error} />
      {!data && loading && <p>{words.loading}</p>}
      {data && before && <Today />}
      {data && !before && (
        <FirstSteps
          sent={seen.sent || data.sent.nodes.length > 0}
          delivered={seen.delivered}
          webhook={data.webhooks.length > 0}
        />
      )}
    </Page>
  )
}

interface StepsProps {
  sent: boolean
  delivered: boolean
  webhook: boolean
}

function FirstSteps({ sent, delivered, webhook }: StepsProps) {
  const { team } = useWorkspace()
  const connected = useInstances().find(({ status }) => status === 'connected')
  return (
    <section className={parts.panel} aria-label={home.steps}>
      <div className={parts.panelHead}>
        <h2>{home.steps}</h2>
      </div>
      <ol aria-label={home.steps} className={styles.steps}>
        <Step title={home.stepConnected} how={home.stepConnectedHow} done={connected !== undefined}>
          <To to={pathIn(team, 'instances')} className={`${parts.button} ${parts.main}`}>
            {home.connect}
          </To>
        </Step>
        <Step title={home.stepSend} how={connected ? home.stepSendHow : home.stepSendHowWithout} done={sent}>
          <Curl instanceId={connected?.id ?? 'INSTANCE'} />
        </Step>
        <Step title={home.stepMoves} how={home.stepMovesHow} done={delivered}>
          <To to={pathIn(team, 'live')} className={parts.button}>
            {home.watch}
          </To>
        </Step>
        <Step title={home.stepWebhook} how={home.stepWebhookHow} done={webhook}>
          <To to={pathIn(team, 'webhooks')} className={parts.button}>
            {home.addEndpoint}
          </To>
        </Step>
      </ol>
    </section>
  )
}

function Step({ title, how, done, children }: { title: string; how: string; done: boolean; children?: ReactNode }) {
  const Icon = done ? CircleCheck : Circle
  return (
    <li className={styles.step} data-done={done || undefined}>
      <Icon size={20} aria-hidden />
      <div className={parts.stack}>
        <div>
          <h3 className={styles.title}>
            {title}
            <span className={parts.unseen}> – {done ? home.done : home.toDo}</span>
          </h3>
          <p className={parts.hint}>{how}</p>
        </div>
        {!done && children && <div className={parts.stack}>{children}</div>}
      </div>
    </li>
  )
}

/** The command of the second step. The key is shown once and forgotten with the page, so it goes around the cache. */
function Curl({ instanceId }: { instanceId: string }) {
  const { team } = useWorkspace()
  const [key, setKey] = useState<string>()
  const idempotencyKey = useRef(newIdempotencyKey())
  const task = useTask(async () => {
    const input = { name: home.keyName, idempotencyKey: idempotencyKey.current }
    const { createApiKey } = await ask(team, CreateFirstKeyDocument, { input })
    setKey(createApiKey.key)
  })
  const [curl] = codeOf({ instanceId, to: '+4915112345678', type: 'text', text: 'Hello' }, key)
  return (
    <>
      <Code name="curl" text={curl?.text ?? ''} />
      <Refusal error={task.error} />
      {key && <p className={parts.hint}>{home.keyShown}</p>}
      <div className={parts.row}>
        <To to={pathIn(team, 'send')} className={`${parts.button} ${parts.main}`}>
          {home.doHere}
        </To>
        {!key && !team && (
          <button type="button" className={parts.button} disabled={task.running} onClick={() => task.run()}>
            {home.makeKey}
          </button>
        )}
      </div>
    </>
  )
}

// Sends a message of any type, now or later. A double click sends once.

import { type FormEvent, useEffect, useRef, useState } from 'react'
import { ContactField } from '../contact-search/contact-field.tsx'
import {
  type LiveRowFragment,
  ScheduleMessageDocument,
  SendMessageDocument,
  type SendMessageInput,
} from '../generated/send/graphql.ts'
import { change } from '../graph/change.ts'
import { useInstances } from '../graph/use-instances.ts'
import { codeOf } from '../messages/call-as-code.ts'
import { pathIn, To, useAddress } from '../navigation.tsx'
import { shownZone } from '../preferences.ts'
import { ApiError } from '../session/auth-call.ts'
import { type UsedDraft, useDraft } from '../shell/use-draft.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Code } from '../ui/code.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { useCheck } from './check.ts'
import { ContentFields } from './content-fields.tsx'
import { byTemplate, type FormType, type Input, inputOf, momentIn } from './input.ts'
import { InstanceChoice } from './instance-choice.tsx'
import { refuseNoTime } from './no-time.ts'
import { Preview } from './preview.tsx'
import styles from './send.module.css'
import { SentStatus } from './sent-status.tsx'
import { type Submission, submissionOf } from './submission.ts'
import { TemplateFields } from './template-fields.tsx'
import { TypeChoice, typeOf } from './type-choice.tsx'
import { WhenField } from './when-field.tsx'
import { text as send } from './words.ts'

export function Send() {
  const { key, ...used } = useDraft<Submission>('send')
  return <SendForm key={key} {...used} />
}

function SendForm({ draft, clear }: UsedDraft<Submission>) {
  const { team, graph } = useWorkspace()
  const [given] = useAddress()
  const { said } = draft
  const instances = useInstances()
  const form = useRef<HTMLFormElement>(null)
  const [type, setType] = useState<FormType>(typeOf(said.type ?? given.type))
  const [to, setTo] = useState(said.to ?? given.number ?? '')
  const [later, setLater] = useState(said['scheduled on'] === 'on')
  const [shown, setShown] = useState(false)
  const [changes, setChanges] = useState(0)
  const [{ input, scheduledAt }, setInput] = useState<{ input: Input | null; scheduledAt: string | null }>(nothing)
  const [sent, setSent] = useState<LiveRowFragment | null>(null)
  const submission = useRef(draft.more)
  function read(): { input: Input; scheduledAt: string | null } {
    const { when, scheduled: _, ...input } = inputOf(new FormData(form.current as HTMLFormElement), type)
    return { input: input as Input, scheduledAt: later ? momentIn(shownZone(), String(when ?? '')) : null }
  }
  // The form is read after it was rendered with the change.
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever changes the fields.
  useEffect(() => {
    setInput(read())
    if (changes > 0) draft.keep(form.current as HTMLFormElement, submission.current)
  }, [changes, to, type, later, instances.length])
  const checked = useCheck(input, scheduledAt)

  const task = useTask(async () => {
    const now = read()
    refuseNoTime(now.scheduledAt)
    submission.current = submissionOf(now, submission.current)
    draft.keep(form.current as HTMLFormElement, submission.current)
    const keyed = { ...(now.input as SendMessageInput), idempotencyKey: submission.current.key }
    if (now.scheduledAt === null) setSent((await change(graph, SendMessageDocument, { input: keyed })).sendMessage)
    else {
      const { scheduledAt } = now
      setSent((await change(graph, ScheduleMessageDocument, { input: { ...keyed, scheduledAt } })).scheduleMessage)
    }
    draft.forget()
    // The next one is another message.
    submission.current = undefined
  })
  // Until the form is submitted, the fields show what the check says about them.
  const { issues } = task.error || !(checked.error instanceof ApiError) ? task : checked.error
  const changed = () => setChanges((n) => n + 1)
  function take(number: string): void {
    setTo(number)
    changed()
  }
  function submit(event: FormEvent): void {
    event.preventDefault()
    setSent(null)
    void task.run()
  }
  const isSandbox = instances.some(({ provider }) => provider === 'sandbox')

  return (
    <Page title={send.title}>
      <div className={styles.columns}>
        <form ref={form} className={parts.stack} onSubmit={submit} onChange={changed} noValidate>
          <div className={styles.pair}>
            <InstanceChoice
              label={send.instance}
              instances={instances}
              given={said.instanceId ?? given.instance}
              issues={issues}
            />
            <TypeChoice value={type} choose={setType} issues={issues} />
          </div>
          {instances.length === 0 && (
            <p className={`${parts.note} ${parts.row}`}>
              {send.noInstance} <To to={pathIn(team, 'instances')}>{words.nav.instances}</To>
            </p>
          )}
          <ContactField
            label={send.to}
            name="to"
            value={to}
            setValue={setTo}
            choose={({ phone }) => take(phone)}
            hint={send.toHint}
            issues={issues}
          />
          {type === byTemplate ? (
            <TemplateFields
              given={said.templateId ?? given.template}
              said={said}
              issues={issues}
              missing={checked.template?.missing ?? []}
              changed={changed}
            />
          ) : (
            <ContentFields key={type} {...{ type, given, said, changed }} issues={issues} />
          )}
          <label className={parts.row}>
            <input type="checkbox" name="scheduled" checked={later} onChange={(event) => setLater(event.target.checked)} />
            {send.schedule}
          </label>
          {later && <WhenField label={send.when} said={said} issues={issues} />}
          <Refusal error={task.error} />
          <div className={parts.row}>
            <button type="submit" className={`${parts.button} ${parts.main}`} disabled={task.running || instances.length === 0}>
              {send.submit}
            </button>
            <button type="button" className={parts.button} aria-expanded={shown} onClick={() => setShown(!shown)}>
              {send.asCode}
            </button>
            {(draft.isKept || changes > 0) && (
              <button type="button" className={`${parts.button} ${parts.quiet}`} onClick={clear}>
                {words.actions.clear}
              </button>
            )}
          </div>
        </form>
        <div className={parts.stack}>
          {sent && (
            <div role="status" className={`${parts.note} ${parts.row}`}>
              <SentStatus key={sent.id} first={sent} />
              <To to={pathIn(team, `messages/${sent.id}`)}>{send.open}</To>
            </div>
          )}
          <Preview input={input} checked={checked} showsError={task.error === null} />
          {isSandbox && (
            <div className={parts.field}>
              <h2 className={parts.hint}>{send.sandbox}</h2>
              <ul className={parts.row} aria-label={send.sandbox}>
                {send.sandboxNumbers.map(([number, meaning]) => (
                  <li key={number}>
                    <button type="button" className={`${parts.button} ${styles.number}`} onClick={() => take(number)}>
                      {meaning}
                    </button>
                  </li>
                ))}
              </ul>
            </div>
          )}
          {shown && input && (
            <Tabs
              name={send.asCode}
              tabs={codeOf({ ...input, ...(scheduledAt !== null && { scheduledAt }) }).map(({ title, text }) => ({
                title,
                panel: <Code name={title} text={text} />,
              }))}
            />
          )}
        </div>
      </div>
    </Page>
  )
}

const nothing = { input: null, scheduledAt: null }

// The form: message, recipients and pace at the left, and what will happen at the right.
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import {
  type BeforeQuery,
  CreateCampaignDocument,
  type CreateCampaignInput,
  FormGroupsDocument,
  FormTemplatesDocument,
} from '../generated/campaigns/graphql.ts'
import { ask } from '../graph/request.ts'
import { useInstances } from '../graph/use-instances.ts'
import { useList } from '../graph/use-list.ts'
import { useRead } from '../graph/use-read.ts'
import { pathIn, useAddress, useGo } from '../navigation.tsx'
import { shownZone } from '../preferences.ts'
import { ContentFields } from '../send/content-fields.tsx'
import { byTemplate, type FormType } from '../send/input.ts'
import { InstanceChoice } from '../send/instance-choice.tsx'
import { refuseNoTime } from '../send/no-time.ts'
import { type Submission, submissionOf } from '../send/submission.ts'
import { TypeChoice, typeOf } from '../send/type-choice.tsx'
import { WhenField } from '../send/when-field.tsx'
import { type UsedDraft, useDraft } from '../shell/use-draft.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { TextField } from '../ui/field.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { count, words } from '../words/words.ts'
import { Before, usePreview } from './before.tsx'
import { campaignIn, paceSaid } from './campaign-input.ts'
import styles from './campaigns.module.css'
import type { Picked } from './contact-picker.tsx'
import { PaceFields } from './pace-fields.tsx'
import { readRecipients } from './read-recipients.ts'
import { type ReadFile, RecipientFields } from './recipient-fields.tsx'
import { TemplateChoice } from './template-choice.tsx'
import { text } from './words.ts'

interface CampaignFormProps {
  /** A campaign whose failed recipients get another one. */
  earlier: NonNullable<BeforeQuery['campaign']> | null
  failed: readonly string[]
}

/** The values that the form keeps outside of its controls. */
interface Chosen {
  file: ReadFile | null
  picked: Picked[]
  submission: Submission | undefined
}

export function CampaignForm(props: CampaignFormProps) {
  const { key, ...used } = useDraft<Chosen>('campaign')
  return <Form key={key} {...used} {...props} />
}

/** Tells the place where an item of the recipients was written: the pasted ones come first. */
function lineOf(index: number, pasted: { lines: readonly number[] }, file: ReadFile | null): string {
  const inFile = index - pasted.lines.length
  if (inFile < 0) return text.line(count(pasted.lines[index] ?? 0))
  return text.fileLine(file?.name ?? '', count(file?.lines[inFile] ?? 0))
}

function typeOfEarlier({ templateId, type }: { templateId?: string | null; type: string }): string {
  return templateId ? byTemplate : type
}

function hasRecipients({ recipients, contactIds, groupIds }: CreateCampaignInput): boolean {
  return Boolean(recipients?.length || contactIds?.length || groupIds?.length)
}

/** The groups to choose from. Pages are loaded until all chosen ones are shown. */
function useGroups(said: UsedDraft<Chosen>['draft']['said'], group: string | undefined) {
  const groups = useList(
    FormGroupsDocument,
    {},
    (read) => read.contactGroups,
    ({ id }) => id,
  )
  const { rows, more, loading, loadMore } = groups
  const isChosen = (id: string) => (said[`groupIds ${id}`] ?? (id === group ? 'on' : '')) === 'on'
  const chosen = [`groupIds ${group ?? ''}`, ...Object.keys(said)].flatMap((key) => key.match(/^groupIds (.+)/)?.[1] ?? [])
  const isAway = chosen.some((id) => isChosen(id) && !rows.some((shown) => shown.id === id))
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each page.
  useEffect(() => {
    if (isAway && more && !loading) void loadMore()
  }, [isAway, rows.length])
  return { groups, isChosen }
}

function Form({ earlier, failed, draft, clear }: CampaignFormProps & UsedDraft<Chosen>) {
  const { said } = draft
  const { team } = useWorkspace()
  const go = useGo()
  const [address] = useAddress()
  const instances = useInstances()
  const { data: lists } = useRead(FormTemplatesDocument, {})
  const { groups, isChosen } = useGroups(said, address.group)
  const { rows: shownGroups } = groups
  const form = useRef<HTMLFormElement>(null)
  const [type, setType] = useState<FormType>(typeOf(said.type ?? (earlier ? typeOfEarlier(earlier) : address.type)))
  const [pasted, setPasted] = useState(said.pasted ?? failed.join('\n'))
  const [file, setFile] = useState<ReadFile | null>(draft.more?.file ?? null)
  const [picked, setPicked] = useState<Picked[]>(draft.more?.picked ?? [])
  const [later, setLater] = useState(said['scheduled on'] === 'on')
  const [changes, setChanges] = useState(0)
  const changed = () => setChanges((n) => n + 1)
  const read = useMemo(() => readRecipients(pasted), [pasted])
  const submission = useRef(draft.more?.submission)

  function inputNow(): CreateCampaignInput {
    const fields = new FormData(form.current as HTMLFormElement)
    const recipients = [...read.recipients, ...(file?.recipients ?? [])]
    return campaignIn(fields, { type, recipients, contactIds: picked.map(({ id }) => id), zone: shownZone() })
  }
  function keep(): void {
    draft.keep(form.current as HTMLFormElement, { file, picked, submission: submission.current })
  }
  // The form is read after it was rendered with the change.
  const [input, setInput] = useState<CreateCampaignInput | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever changes the fields.
  useEffect(() => {
    const next = inputNow()
    setInput(hasRecipients(next) && next.instanceId ? next : null)
    if (changes > 0) keep()
  }, [changes, pasted, file, picked, type, later, lists, shownGroups.length, instances.length])
  const asked = usePreview(input)
  const task = useTask(async () => {
    const now = inputNow()
    refuseNoTime(now.scheduledAt)
    submission.current = submissionOf(now, submission.current)
    keep()
    const keyed = { ...now, idempotencyKey: submission.current.key }
    const { createCampaign } = await ask(team, CreateCampaignDocument, { input: keyed })
    draft.forget()
    go(pathIn(team, `campaigns/${createCampaign.id}`))
  })
  const example = earlier?.messages.nodes[0]
  const given = { text: example?.body ?? address.text, file: example?.mediaUrl ?? address.file }
  return (
    <Page title={text.create}>
      <form ref={form} className={styles.form} noValidate onSubmit={submits(() => task.run())} onChange={changed}>
        <div className={parts.stack}>
          <Section title={text.message}>
            <TextField
              label={text.name}
              name="name"
              autoComplete="off"
              defaultValue={said.name ?? (earlier ? text.againName(earlier.name) : '')}
              issues={task.issues}
            />
            <div className={styles.pair}>
              <InstanceChoice
                label={text.instance}
                instances={instances}
                given={said.instanceId ?? earlier?.instance.id ?? address.instance}
                issues={task.issues}
              />
              <TypeChoice value={type} choose={setType} issues={task.issues} />
            </div>
            {type !== byTemplate ? (
              <ContentFields key={type} {...{ type, given, said, changed }} issues={task.issues} />
            ) : (
              <TemplateChoice
                templates={lists?.templates}
                given={said.templateId ?? earlier?.templateId ?? undefined}
                issues={task.issues}
              />
            )}
          </Section>
          <Section title={text.whom}>
            <RecipientFields
              {...{ pasted, setPasted, read, file, picked, groups, isChosen }}
              setFile={(next) => {
                setFile(next)
                changed()
              }}
              setPicked={(next) => {
                setPicked(next)
                changed()
              }}
              issues={task.issues}
            />
          </Section>
          <Section title={text.pace}>
            <label className={parts.row}>
              <input type="checkbox" name="scheduled" checked={later} onChange={(event) => setLater(event.target.checked)} />
              {text.schedule}
            </label>
            {later && <WhenField label={text.when} said={said} issues={task.issues} />}
            <PaceFields {...paceSaid(said, earlier)} issues={task.issues} />
          </Section>
        </div>
        <div className={styles.aside}>
          <Before asked={asked} lineOf={(index) => lineOf(index, read, file)} />
          <Refusal error={task.error} />
          <button type="submit" className={`${parts.button} ${parts.main}`} disabled={task.running || instances.length === 0}>
            {text.start}
          </button>
          {(draft.isKept || changes > 0) && (
            <button type="button" className={`${parts.button} ${parts.quiet}`} onClick={clear}>
              {words.actions.clear}
            </button>
          )}
        </div>
      </form>
    </Page>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={parts.panel} aria-label={title}>
      <div className={parts.panelHead}>
        <h2>{title}</h2>
      </div>
      <div className={`${parts.panelBody} ${parts.stack}`}>{children}</div>
    </section>
  )
}

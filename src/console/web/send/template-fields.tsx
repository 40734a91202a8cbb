// The choice of a template, and a field for each of its values.
import { useEffect, useState } from 'react'
import { FillTemplateDocument, SendTemplatesDocument } from '../generated/send/graphql.ts'
import { askPatiently } from '../graph/ask-patiently.ts'
import { ask } from '../graph/request.ts'
import { useRead } from '../graph/use-read.ts'
import type { Issue } from '../session/auth-call.ts'
import type { Draft } from '../session/drafts.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { TextField } from '../ui/field.tsx'
import { Refusal } from '../ui/refusal.tsx'
import { words } from '../words/words.ts'
import { valuePrefix } from './input.ts'
import { RecordChoice, useChosen } from './record-choice.tsx'
import { text as send } from './words.ts'

interface TemplateFieldsProps {
  /** The id of the template that is chosen at first. */
  given: string | undefined
  issues: readonly Issue[]
  /** The values of the draft. */
  said: Draft['said']
  /** Values that neither the form nor the contact has. */
  missing: readonly string[]
  /** Called when there are other fields. */
  changed: () => void
}

const custom = 'custom.'

export function TemplateFields({ given, said, issues, missing, changed }: TemplateFieldsProps) {
  const { data, error } = useRead(SendTemplatesDocument, {})
  const templates = data?.templates ?? []
  const [id, choose] = useChosen(templates, given)
  const names = useNames(id)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the fields are those of the template.
  useEffect(changed, [id, names])
  return (
    <>
      <Refusal error={error} />
      <RecordChoice
        label={send.template}
        name="templateId"
        records={templates}
        nameOf={({ name }) => name}
        chosen={id}
        choose={choose}
        hint={data ? templates.length === 0 && send.noTemplates : words.loading}
        issues={issues}
      />
      {names.map((name) => (
        <TextField
          key={`${id} ${name}`}
          label={name}
          name={valuePrefix + name}
          defaultValue={said[valuePrefix + name]}
          autoComplete="off"
          hint={missing.includes(custom + name) ? send.needsValue : send.orOfContact}
          issues={issues}
        />
      ))}
    </>
  )
}

/** The names of the values that a template takes and has no replacement for, without those of a contact. */
function useNames(id: string | undefined): readonly string[] {
  const { team } = useWorkspace()
  const [named, setNamed] = useState<{ id: string; names: readonly string[] }>()
  useEffect(() => {
    if (!id) return
    return askPatiently(
      () => ask(team, FillTemplateDocument, { id }),
      ({ previewTemplate: { missing } }) => {
        const names = missing.filter((name) => name.startsWith(custom)).map((name) => name.slice(custom.length))
        setNamed({ id, names })
      },
      // The check of the message says why.
      () => {},
    )
  }, [team, id])
  return named && named.id === id ? named.names : none
}

const none: readonly string[] = []

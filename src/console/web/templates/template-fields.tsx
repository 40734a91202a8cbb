// The fields of a template, in the form that creates one and in the form that changes one.
import { useState } from 'react'
import type { TemplateRowFragment, TemplateType } from '../generated/templates/graphql.ts'
import type { Issue } from '../session/auth-call.ts'
import type { Draft } from '../session/drafts.ts'
import { Choice, TextArea, TextField } from '../ui/field.tsx'
import { words } from '../words/words.ts'
import { text } from './words.ts'

/** The names of the fields, each of which shows its own fault. */
export const templateFields = ['name', 'type', 'mediaUrl', 'body']

const types: readonly TemplateType[] = ['text', 'image', 'video', 'audio', 'document']

interface TemplateFieldsProps {
  template?: TemplateRowFragment
  /** The values of the draft. */
  said?: Draft['said']
  issues: readonly Issue[]
}

export function TemplateFields({ template, said = {}, issues }: TemplateFieldsProps) {
  const [type, setType] = useState<TemplateType>(types.find((known) => known === said.type) ?? template?.type ?? 'text')
  return (
    <>
      <TextField
        label={words.fields.name}
        name="name"
        defaultValue={said.name ?? template?.name}
        hint={text.nameHint}
        autoComplete="off"
        issues={issues}
      />
      <Choice
        label={text.type}
        name="type"
        value={type}
        onChange={(event) => setType(event.target.value as TemplateType)}
        issues={issues}
      >
        {types.map((each) => (
          <option key={each} value={each}>
            {words.type[each]}
          </option>
        ))}
      </Choice>
      {type !== 'text' && (
        <TextField
          label={text.file}
          name="mediaUrl"
          type="url"
          defaultValue={said.mediaUrl ?? template?.mediaUrl ?? ''}
          autoComplete="off"
          issues={issues}
        />
      )}
      {type !== 'audio' && (
        <TextArea label={text.text} name="body" defaultValue={said.body ?? template?.body} hint={text.textHint} issues={issues} />
      )}
    </>
  )
}

/** The values of the fields. A field that the type does not have is left out. */
export function templateIn(fields: FormData): { name: string; type: TemplateType; body: string; mediaUrl: string | null } {
  const said = (name: string) => String(fields.get(name) ?? '').trim()
  return { name: said('name'), type: said('type') as TemplateType, body: said('body'), mediaUrl: said('mediaUrl') || null }
}

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
  const given = template?.type ?? 'text'
  const [type, setType] = useState<TemplateType>(types.find((known) => known === said.type) ?? given)
  // As the other fields do, it follows the record until somebody changes it.
  const [before, setBefore] = useState(given)
  if (given !== before) {
    setBefore(given)
    if (type === before) setType(given)
  }
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
      <div hidden={type === 'text'}>
        <TextField
          label={text.file}
          name="mediaUrl"
          type="url"
          defaultValue={said.mediaUrl ?? template?.mediaUrl ?? ''}
          autoComplete="off"
          issues={issues}
        />
      </div>
      <div hidden={type === 'audio'}>
        <TextArea label={text.text} name="body" defaultValue={said.body ?? template?.body} hint={text.textHint} issues={issues} />
      </div>
    </>
  )
}

/** The values of the fields. A field that the type does not have is left out; it is only hidden, in case another type is chosen. */
export function templateIn(fields: FormData): { name: string; type: TemplateType; body: string; mediaUrl: string | null } {
  const said = (name: string) => String(fields.get(name) ?? '').trim()
  const type = said('type') as TemplateType
  return {
    name: said('name'),
    type,
    body: type === 'audio' ? '' : said('body'),
    mediaUrl: type === 'text' ? null : said('mediaUrl') || null,
  }
}

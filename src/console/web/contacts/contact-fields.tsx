// The fields of a contact, in the form that creates one and in the form that changes one.
import type { WholeContactFragment } from '../generated/contacts/graphql.ts'
import type { Issue } from '../session/auth-call.ts'
import { TextArea, TextField } from '../ui/field.tsx'
import { words } from '../words/words.ts'
import { text } from './words.ts'

export function ContactFields({ contact, issues }: { contact?: WholeContactFragment; issues: readonly Issue[] }) {
  const custom = Object.entries((contact?.custom ?? {}) as Record<string, string>)
  return (
    <>
      <TextField label={words.fields.name} name="name" defaultValue={contact?.name} autoComplete="off" issues={issues} />
      <TextField
        label={text.number}
        name="phone"
        type="tel"
        defaultValue={contact?.phone}
        hint={text.numberHint}
        autoComplete="off"
        issues={issues}
      />
      <TextField
        label={words.fields.email}
        name="email"
        type="email"
        defaultValue={contact?.email ?? ''}
        autoComplete="off"
        issues={issues}
      />
      <TextField
        label={text.tags}
        name="tags"
        defaultValue={contact?.tags.join(', ')}
        hint={text.tagsHint}
        autoComplete="off"
        issues={issues}
      />
      <TextArea
        label={text.custom}
        name="custom"
        defaultValue={custom.map(([name, value]) => `${name}=${value}`).join('\n')}
        hint={text.customHint}
        issues={issues}
      />
    </>
  )
}

export interface ContactInput {
  name: string
  phone: string
  email: string | null
  tags: string[]
  custom: Record<string, string>
}

export function contactIn(fields: FormData): ContactInput {
  const said = (name: string) => String(fields.get(name) ?? '').trim()
  const lines = said('custom').split('\n').filter(Boolean)
  return {
    name: said('name'),
    phone: said('phone'),
    email: said('email') || null,
    tags: said('tags')
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean),
    custom: Object.fromEntries(
      lines.map((line) => {
        const [name = '', ...value] = line.split('=')
        return [name.trim(), value.join('=').trim()]
      }),
    ),
  }
}

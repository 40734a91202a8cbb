// The fields of a contact, in the form that creates one and in the form that changes one.
import type { WholeContactFragment } from '../generated/contacts/graphql.ts'
import type { Issue } from '../session/auth-call.ts'
import { TextArea, TextField } from '../ui/field.tsx'
import { words } from '../words/words.ts'
import { text } from './words.ts'

export function ContactFields({ contact, issues }: { contact?: WholeContactFragment; issues: readonly Issue[] }) {
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
        defaultValue={contact && tagsAsText(contact)}
        hint={text.tagsHint}
        autoComplete="off"
        issues={issues}
      />
      <TextArea
        label={text.custom}
        name="custom"
        defaultValue={contact && customOf(contact).map(lineOf).join('\n')}
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

const tagsAsText = ({ tags }: WholeContactFragment) => tags.join(', ')
const customOf = ({ custom }: WholeContactFragment) => Object.entries(custom as Record<string, string>)
const lineOf = ([name, value]: [string, string]) => `${name}=${value}`

/** `before` is the contact that the form was filled with. The tags and values of it that stand there unchanged stay as they are stored. */
export function contactIn(fields: FormData, before?: WholeContactFragment): ContactInput {
  const said = (name: string) => String(fields.get(name) ?? '').trim()
  return {
    name: said('name'),
    phone: said('phone'),
    email: said('email') || null,
    tags: before && said('tags') === tagsAsText(before).trim() ? before.tags : tagsIn(said('tags')),
    custom: customIn(said('custom'), before ? customOf(before) : []),
  }
}

function tagsIn(text: string): string[] {
  return text
    .split(',')
    .map((tag) => tag.trim())
    .filter(Boolean)
}

/** Stored values are recognized as they are shown, because one with line breaks, or a name with `=`, could not be read from its lines. */
function customIn(text: string, stored: [string, string][]): Record<string, string> {
  let left = asLines(text)
  const kept = stored.filter((entry) => {
    const without = left.replace(asLines(lineOf(entry)), '\n')
    const isThere = without !== left
    left = without
    return isThere
  })
  const written = left
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [name = '', ...value] = line.split('=')
      return [name.trim(), value.join('=').trim()] as const
    })
  return Object.fromEntries([...kept, ...written])
}

/** As a text area hands it over, between two line breaks. */
function asLines(text: string): string {
  return `\n${text.trim().replaceAll(/\r\n?/g, '\n')}\n`
}

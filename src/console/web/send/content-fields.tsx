// The fields that each type of message has.
import type { ReactElement } from 'react'
import { ContactChoice } from '../contact-search/contact-choice.tsx'
import type { SendType } from '../generated/send/graphql.ts'
import type { Search } from '../navigation.tsx'
import type { Issue } from '../session/auth-call.ts'
import type { Draft } from '../session/drafts.ts'
import { TextArea, TextField } from '../ui/field.tsx'
import { text as send } from './words.ts'

interface ContentProps {
  type: SendType
  /** Values from the address, which fill the fields in. */
  given: Search
  /** Values from the draft, which come before those of the address. */
  said: Draft['said']
  issues: readonly Issue[]
  /** Called for changes that the form does not tell. */
  changed: () => void
}

export function ContentFields({ type, given, said, issues, changed }: ContentProps): ReactElement | ReactElement[] {
  const field = (name: string, label: string, value?: string) => (
    <TextField key={name} name={name} label={label} defaultValue={said[name] ?? value} issues={issues} />
  )
  const text = (label: string) => (
    <TextArea key="text" name="text" label={label} defaultValue={said.text ?? given.text} issues={issues} />
  )
  switch (type) {
    case 'text':
      return text(send.text)
    case 'image':
    case 'video':
    case 'document':
      return [field('mediaUrl', send.mediaUrl, given.file), text(send.caption)]
    case 'audio':
    case 'voice_note':
      return field('mediaUrl', send.mediaUrl, given.file)
    case 'location':
      return [
        field('latitude', send.latitude, given.latitude),
        field('longitude', send.longitude, given.longitude),
        field('locationName', send.locationName, given.locationName),
        field('locationAddress', send.locationAddress, given.locationAddress),
      ]
    case 'contact':
      return <ContactChoice name="contactId" given={said.contactId} issues={issues} changed={changed} />
    case 'buttons':
      return [
        field('title', send.titleField, given.title),
        field('description', send.description, given.description ?? said.text ?? given.text),
        field('footer', send.footer, given.footer),
        <TextArea
          key="buttons"
          name="buttons"
          label={send.buttons}
          defaultValue={said.buttons ?? given.buttons}
          issues={issues}
        />,
      ]
  }
}

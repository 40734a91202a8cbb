// One contact: its fields, its groups, and the conversation with it.
import { useState } from 'react'
import {
  ContactDocument,
  DeleteContactDocument,
  type GroupRowFragment,
  UpdateContactDocument,
  type WholeContactFragment,
} from '../generated/contacts/graphql.ts'
import { change } from '../graph/change.ts'
import { ask } from '../graph/request.ts'
import type { List } from '../graph/use-list.ts'
import { useRead } from '../graph/use-read.ts'
import { pathIn, To, useGo, usePart } from '../navigation.tsx'
import { NotFound } from '../shell/not-found.tsx'
import { useFrames, useWorkspace } from '../shell/workspace-context.ts'
import { Confirm } from '../ui/confirm.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { SaveForm } from '../ui/save-form.tsx'
import { useOnce } from '../ui/use-once.ts'
import { words } from '../words/words.ts'
import { ContactFields, contactIn } from './contact-fields.tsx'
import { Conversation } from './conversation.tsx'
import { GroupsOfContact } from './groups-of-contact.tsx'
import { useGroups } from './use-groups.ts'
import { text } from './words.ts'

export function Contact() {
  const id = usePart('contactId')
  const { data, error, loading, again } = useRead(ContactDocument, { id })
  const groups = useGroups()
  const areKnown = useOnce(!groups.loading && !groups.error)
  if (data?.contact && areKnown) {
    return <Shown contact={data.contact} groups={groups} error={error} again={again} />
  }
  if (!loading && (error?.code === 'NOT_FOUND' || error?.code === 'VALIDATION_ERROR')) return <NotFound />
  const failure = error ?? groups.error
  return <Page title={text.contact}>{failure ? <Refusal error={failure} /> : words.loading}</Page>
}

interface ShownProps {
  contact: WholeContactFragment
  groups: List<GroupRowFragment>
  error: unknown
  again: () => void
}

function Shown({ contact, groups, error, again }: ShownProps) {
  const { team, graph } = useWorkspace()
  const go = useGo()
  const [deleting, setDeleting] = useState(false)
  const { id, name, phone } = contact
  // While this page deletes it, the page goes to the list by itself.
  useFrames((events) => {
    if (!deleting && events.some(({ type }) => type === 'contact_changed')) again()
  })
  const save = (fields: FormData) => change(graph, UpdateContactDocument, { id, input: contactIn(fields, contact) })
  return (
    <Page
      title={name}
      actions={
        <>
          <To to={pathIn(team, 'messages')} search={{ contact: id }} className={parts.button}>
            {words.nav.messages}
          </To>
          <To to={pathIn(team, 'send')} search={{ number: phone }} className={parts.button}>
            {words.nav.send}
          </To>
          <button type="button" className={`${parts.button} ${parts.danger}`} onClick={() => setDeleting(true)}>
            {words.actions.delete}
          </button>
        </>
      }
    >
      <Refusal error={error} />
      <div className={parts.columns}>
        <section className={parts.panel} aria-label={text.contact}>
          <SaveForm isMain save={save}>
            {(issues) => <ContactFields contact={contact} issues={issues} />}
          </SaveForm>
        </section>
        <div className={parts.stack}>
          <GroupsOfContact contact={contact} all={groups} again={again} />
          <Conversation id={id} />
        </div>
      </div>
      {deleting && (
        <Confirm
          title={text.deleteTitle}
          action={words.actions.delete}
          act={async () => {
            await ask(team, DeleteContactDocument, { id })
            go(pathIn(team, 'contacts'))
          }}
          close={() => setDeleting(false)}
        >
          {text.deleteNote}
        </Confirm>
      )}
    </Page>
  )
}

// One group: its members, which are added and taken out, and its end.
import { useState } from 'react'
import { ContactField } from '../contact-search/contact-field.tsx'
import {
  AddToGroupDocument,
  DeleteGroupDocument,
  GroupDocument,
  GroupMembersDocument,
  type GroupRowFragment,
  RemoveFromGroupDocument,
  RenameGroupDocument,
} from '../generated/contacts/graphql.ts'
import { change } from '../graph/change.ts'
import { ask } from '../graph/request.ts'
import { useList } from '../graph/use-list.ts'
import { useRead } from '../graph/use-read.ts'
import { pathIn, useGo, usePart } from '../navigation.tsx'
import { NotFound } from '../shell/not-found.tsx'
import { useFrames, useWorkspace } from '../shell/workspace-context.ts'
import { Confirm } from '../ui/confirm.tsx'
import { More } from '../ui/more.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Rename } from '../ui/rename.tsx'
import { useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { ContactTable } from './contact-table.tsx'
import { text } from './words.ts'

export function Group() {
  const id = usePart('groupId')
  const { data, error, loading } = useRead(GroupDocument, { id })
  if (data?.contactGroup) return <Shown group={data.contactGroup} />
  if (!loading && (error?.code === 'NOT_FOUND' || error?.code === 'VALIDATION_ERROR')) return <NotFound />
  return <Page title={text.group}>{error ? <Refusal error={error} /> : words.loading}</Page>
}

function Shown({ group: { id, name, description } }: { group: GroupRowFragment }) {
  const { team, graph } = useWorkspace()
  const go = useGo()
  const [open, setOpen] = useState<'rename' | 'delete' | null>(null)
  const [search, setSearch] = useState('')
  const close = () => setOpen(null)
  const list = useList(
    GroupMembersDocument,
    { id, first: 50 },
    (data) => data.contactGroup?.members,
    (contact) => contact.id,
  )
  useFrames((events) => {
    if (events.some(({ type }) => type === 'contact_changed')) list.refresh()
  })
  const add = useTask(async (contactId: string) => {
    setSearch('')
    await ask(team, AddToGroupDocument, { groupId: id, contactIds: [contactId] })
    list.refresh()
  })
  const remove = useTask(async (contactId: string) => {
    await ask(team, RemoveFromGroupDocument, { groupId: id, contactIds: [contactId] })
    list.again()
  })
  return (
    <Page
      title={name}
      actions={
        <>
          <button type="button" className={parts.button} onClick={() => setOpen('rename')}>
            {text.renameGroup}
          </button>
          <button type="button" className={`${parts.button} ${parts.danger}`} onClick={() => setOpen('delete')}>
            {words.actions.delete}
          </button>
        </>
      }
    >
      {description && <p>{description}</p>}
      <Refusal error={add.error ?? remove.error ?? list.error} />
      <ContactField
        label={text.addMember}
        name="search"
        type="search"
        value={search}
        setValue={setSearch}
        choose={(contact) => add.run(contact.id)}
        except={list.rows.map((contact) => contact.id)}
        strict
      />
      <ContactTable
        name={text.members}
        rows={list.rows}
        loading={list.loading}
        error={list.error}
        empty={text.noMembers}
        action={(contact) => (
          <button
            key="remove"
            type="button"
            className={parts.button}
            aria-label={text.takeOutOf(contact.name)}
            disabled={remove.running}
            onClick={() => remove.run(contact.id)}
          >
            {text.takeOut}
          </button>
        )}
      />
      <More list={list} />
      {open === 'rename' && (
        <Rename
          title={text.renameGroup}
          name={name}
          save={(next) => change(graph, RenameGroupDocument, { id, name: next })}
          close={close}
        />
      )}
      {open === 'delete' && (
        <Confirm
          title={text.deleteGroup}
          action={words.actions.delete}
          act={async () => {
            await ask(team, DeleteGroupDocument, { id })
            go(pathIn(team, 'contacts'))
          }}
          close={close}
        >
          {text.deleteGroupNote}
        </Confirm>
      )}
    </Page>
  )
}

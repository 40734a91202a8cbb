// The contacts of the workspace: searched, imported and exported, and their groups.
import { Download, Upload } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { ContactsDocument } from '../generated/contacts/graphql.ts'
import { download } from '../graph/download.ts'
import { useList } from '../graph/use-list.ts'
import { useAddress } from '../navigation.tsx'
import { useFrames, useWorkspace } from '../shell/workspace-context.ts'
import { AddButton } from '../ui/add-button.tsx'
import { TextField } from '../ui/field.tsx'
import { More } from '../ui/more.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { useOnce } from '../ui/use-once.ts'
import { useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { ContactTable } from './contact-table.tsx'
import { Groups } from './groups.tsx'
import { ImportContacts } from './import-contacts.tsx'
import { NewContact } from './new-contact.tsx'
import { text } from './words.ts'

export function Contacts() {
  const { team } = useWorkspace()
  const [{ search }, setAddress] = useAddress()
  const [open, setOpen] = useState<'new' | 'import' | null>(null)
  const list = useList(
    ContactsDocument,
    { first: 50, ...(search && { filter: { search } }) },
    (data) => data.contacts,
    ({ id }) => id,
  )
  const read = useOnce(!list.loading)
  useFrames((events) => {
    if (events.some(({ type }) => type === 'contact_changed')) list.refresh()
  })
  const csv = useTask(() =>
    download(team, `contacts/export.csv?${new URLSearchParams(search ? { search } : {})}`, 'contacts.csv'),
  )
  const close = () => setOpen(null)
  const field = useRef<HTMLInputElement>(null)
  // A link may lead here with another search, or with none. The address follows what is typed with a delay.
  useEffect(() => {
    if (field.current && field.current !== document.activeElement) field.current.value = search ?? ''
  }, [search])
  return (
    <Page
      title={text.title}
      actions={
        <>
          <button type="button" className={parts.button} onClick={() => setOpen('import')}>
            <Upload size={15} aria-hidden />
            {words.actions.importCsv}
          </button>
          <button type="button" className={parts.button} disabled={csv.running} onClick={() => csv.run()}>
            <Download size={15} aria-hidden />
            {words.actions.exportCsv}
          </button>
          <AddButton label={text.create} add={() => setOpen('new')} />
        </>
      }
    >
      <TextField
        ref={field}
        label={text.search}
        name="search"
        type="search"
        autoComplete="off"
        defaultValue={search}
        onChange={(event) => setAddress({ search: event.target.value.trim() })}
      />
      <Refusal error={csv.error ?? list.error} />
      <ContactTable
        name={text.title}
        rows={list.rows}
        loading={list.loading}
        error={list.error}
        empty={search ? text.emptyFiltered : text.empty}
      />
      <More list={list} />
      {read && <Groups />}
      {open === 'new' && <NewContact close={close} />}
      {open === 'import' && <ImportContacts done={list.refresh} close={close} />}
    </Page>
  )
}

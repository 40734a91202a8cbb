// Finds contacts by what is typed, and keeps those that were added.
import { useState } from 'react'
import { FindContactsDocument, type FindContactsQuery } from '../generated/campaigns/graphql.ts'
import { useRead } from '../graph/use-read.ts'
import { TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import styles from './campaigns.module.css'
import { text } from './words.ts'

export type Picked = FindContactsQuery['contacts']['nodes'][number]

export function ContactPicker({ picked, setPicked }: { picked: readonly Picked[]; setPicked: (picked: Picked[]) => void }) {
  const [search, setSearch] = useState('')
  const asked = search.trim()
  const { data, loading } = useRead(FindContactsDocument, { search: asked }, { pause: asked === '' })
  const known = asked ? data?.contacts.nodes : undefined
  const found = known?.filter(({ id }) => picked.every((one) => one.id !== id)) ?? []
  function add(contact: Picked): void {
    setPicked([...picked, contact])
    setSearch('')
  }
  return (
    <div className={parts.field}>
      <TextField
        label={text.searchContacts}
        name="search"
        type="search"
        autoComplete="off"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
      />
      {!loading && known?.length === 0 && <p className={parts.hint}>{text.noContact}</p>}
      <ul aria-label={text.contacts} className={styles.chips}>
        {picked.map((contact) => (
          <Chip
            key={contact.id}
            label={text.removeContact(contact.name)}
            act={() => setPicked(picked.filter(({ id }) => id !== contact.id))}
          >{`${contact.name} ×`}</Chip>
        ))}
        {found.map((contact) => (
          <Chip key={contact.id} label={text.addContact(contact.name)} act={() => add(contact)}>
            {`+ ${contact.name}`}
          </Chip>
        ))}
      </ul>
    </div>
  )
}

function Chip({ label, act, children }: { label: string; act: () => void; children: string }) {
  return (
    <li>
      <button type="button" className={`${parts.button} ${styles.slim}`} aria-label={label} onClick={act}>
        {children}
      </button>
    </li>
  )
}

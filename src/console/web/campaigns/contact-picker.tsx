// Finds contacts by what is typed, and keeps those that were added.
import { useState } from 'react'
import { ContactField } from '../contact-search/contact-field.tsx'
import type { FoundContactFragment } from '../generated/contact-search/graphql.ts'
import parts from '../ui/parts.module.css'
import styles from './campaigns.module.css'
import { text } from './words.ts'

export type Picked = FoundContactFragment

export function ContactPicker({ picked, setPicked }: { picked: readonly Picked[]; setPicked: (picked: Picked[]) => void }) {
  const [search, setSearch] = useState('')
  return (
    <div className={parts.field}>
      <ContactField
        label={text.searchContacts}
        name="search"
        type="search"
        value={search}
        setValue={setSearch}
        choose={(contact) => {
          setPicked([...picked, contact])
          setSearch('')
        }}
        except={picked.map(({ id }) => id)}
        strict
      />
      <ul aria-label={text.contacts} className={styles.chips}>
        {picked.map(({ id, name }) => (
          <li key={id}>
            <button
              type="button"
              className={`${parts.button} ${styles.slim}`}
              aria-label={text.removeContact(name)}
              onClick={() => setPicked(picked.filter((one) => one.id !== id))}
            >
              {`${name} ×`}
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}

// The field that finds the contact whose messages are shown.
import { useState } from 'react'
import { ContactsForFilterDocument, FilteredContactDocument } from '../generated/messages/graphql.ts'
import { useRead } from '../graph/use-read.ts'
import { TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { words } from '../words/words.ts'
import { text } from './words.ts'

interface Chosen {
  id: string
  /** Undefined until it is read. */
  name?: string
}

/** `given` is the id in the address. The id of the chosen contact is the field `contact` of the form. */
export function ContactChoice({ given }: { given: string | undefined }) {
  const [chosen, setChosen] = useState<Chosen | null>(given ? { id: given } : null)
  const [search, setSearch] = useState('')
  const asked = search.trim()
  const { data, loading } = useRead(ContactsForFilterDocument, { search: asked }, { pause: asked === '' })
  const known = useRead(FilteredContactDocument, { id: chosen?.id ?? '' }, { pause: !chosen || chosen.name !== undefined })
  const found = asked ? data?.contacts.nodes : undefined
  if (chosen) {
    const name = chosen.name ?? known.data?.contact?.name ?? chosen.id
    return (
      <div className={parts.field}>
        <span className={parts.label}>{text.contact}</span>
        <div className={parts.row}>
          {name}
          <input type="hidden" name="contact" value={chosen.id} />
          <button
            type="button"
            className={parts.button}
            aria-label={text.remove(`${text.contact}: ${name}`)}
            onClick={() => setChosen(null)}
          >
            {text.another}
          </button>
        </div>
      </div>
    )
  }
  return (
    <div className={parts.field}>
      <TextField
        label={text.contact}
        name="searchedContact"
        type="search"
        autoComplete="off"
        value={search}
        hint={text.contactHint}
        onChange={(event) => setSearch(event.target.value)}
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
      />
      <ul aria-label={text.foundContacts} className={parts.row}>
        {found?.map(({ id, name, phone }) => (
          <li key={id}>
            <button
              type="button"
              className={parts.button}
              onClick={() => {
                setChosen({ id, name })
                setSearch('')
              }}
            >
              {name} <span className={parts.hint}>{phone}</span>
            </button>
          </li>
        ))}
      </ul>
      <p role="status" className={parts.hint}>
        {asked && loading && words.loading}
        {!loading && found?.length === 0 && text.noContact}
      </p>
    </div>
  )
}

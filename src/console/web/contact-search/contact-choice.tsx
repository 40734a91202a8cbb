// The field whose value is a contact.
import { useEffect, useRef, useState } from 'react'
import { ChosenContactDocument } from '../generated/contact-search/graphql.ts'
import { useRead } from '../graph/use-read.ts'
import type { Issue } from '../session/auth-call.ts'
import parts from '../ui/parts.module.css'
import { ContactField } from './contact-field.tsx'
import { text } from './words.ts'

interface Chosen {
  id: string
  /** Undefined until it is read. */
  name?: string
}

interface ContactChoiceProps {
  /** The name of the form's field that gets the id of the contact. */
  name: string
  given?: string
  issues?: readonly Issue[]
  changed?: () => void
}

export function ContactChoice({ name: field, given, issues, changed }: ContactChoiceProps) {
  const [chosen, setChosen] = useState<Chosen | null>(given ? { id: given } : null)
  const [search, setSearch] = useState('')
  const [used, setUsed] = useState(false)
  const around = useRef<HTMLDivElement>(null)
  const isChosen = chosen !== null
  // The control with the focus has been replaced, so its replacement gets the focus.
  // biome-ignore lint/correctness/useExhaustiveDependencies: either of the two comes.
  useEffect(() => {
    if (used) around.current?.querySelector<HTMLElement>('[type=search], button')?.focus()
  }, [used, isChosen])
  const known = useRead(ChosenContactDocument, { id: chosen?.id ?? '' }, { pause: !chosen || chosen.name !== undefined })
  function set(next: Chosen | null): void {
    setChosen(next)
    setSearch('')
    setUsed(true)
    changed?.()
  }
  if (!chosen) {
    return (
      <div ref={around} className={parts.field}>
        <ContactField
          label={text.contact}
          name={field}
          type="search"
          value={search}
          setValue={setSearch}
          choose={set}
          issues={issues}
          strict
        />
        <input type="hidden" name={field} value="" />
      </div>
    )
  }
  const name = chosen.name ?? known.data?.contact?.name ?? chosen.id
  return (
    <div ref={around} className={parts.field}>
      <span className={parts.label}>{text.contact}</span>
      <div className={parts.row}>
        {name}
        <input type="hidden" name={field} value={chosen.id} />
        <button type="button" className={parts.button} aria-label={text.remove(name)} onClick={() => set(null)}>
          {text.another}
        </button>
      </div>
    </div>
  )
}

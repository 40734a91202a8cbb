// A field that offers the contacts with a part of what is typed in their name or number. It has the keys of a combobox.
import { type ComponentProps, type KeyboardEvent, useEffect, useId, useState } from 'react'
import { type FoundContactFragment, SearchContactsDocument } from '../generated/contact-search/graphql.ts'
import { useRead } from '../graph/use-read.ts'
import { TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { count } from '../words/words.ts'
import styles from './contact-search.module.css'
import { text } from './words.ts'

interface ContactFieldProps extends ComponentProps<typeof TextField> {
  value: string
  setValue: (value: string) => void
  choose: (contact: FoundContactFragment) => void
  /** Contacts that are not offered. */
  except?: readonly string[]
  /** True if nothing but a contact is an answer. */
  strict?: boolean
}

/** The time without a change after which contacts are looked for. */
const restMs = 200

/** Returns the search term: the trimmed text, or a number without its separators. */
function searchIn(value: string): string {
  return /^[+\d\s()-]+$/.test(value) ? value.replaceAll(/[\s()-]/g, '') : value.trim()
}

/** A text once it has not changed for a moment. */
function useRested(text: string): string {
  const [rested, setRested] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), restMs)
    return () => clearTimeout(timer)
  }, [text])
  return rested
}

export function ContactField({ value, setValue, choose, except, strict = false, hint = text.hint, ...rest }: ContactFieldProps) {
  const id = useId()
  const [open, setOpen] = useState(false)
  // By its id, because the list may change before Enter is pressed.
  const [active, setActive] = useState<string | null>(null)
  const wanted = searchIn(value)
  const asked = useRested(wanted)
  const isSearch = wanted !== '' && wanted !== '+'
  const { data, loading } = useRead(SearchContactsDocument, { search: asked }, { pause: asked === '' || !isSearch })
  const isAnswered = asked === wanted && !loading
  const known = isSearch ? data?.contacts.nodes : undefined
  // A whole number needs no choice any more.
  const same = known?.find(({ phone }) => phone === wanted)
  // Until the answer comes, those of the last one that still fit.
  const fits = ({ name, phone }: FoundContactFragment) =>
    isAnswered || `${name} ${phone}`.toLowerCase().includes(wanted.toLowerCase())
  const found = known?.filter((contact) => contact !== same && !except?.includes(contact.id) && fits(contact)) ?? []
  const isOpen = open && found.length > 0
  const at = isOpen ? found.findIndex((contact) => contact.id === active) : -1
  const activeId = at === -1 ? undefined : `${id}-${at}`
  const none = strict && isAnswered && known?.length === 0 ? text.none : undefined

  useEffect(() => {
    if (activeId) document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' })
  }, [activeId])

  function take(contact: FoundContactFragment): void {
    setOpen(false)
    setActive(null)
    choose(contact)
  }

  function move(event: KeyboardEvent): void {
    // This key is one of an input method.
    if (event.nativeEvent.isComposing) return
    const chosen = found[at]
    const next = { ArrowDown: at + 1, ArrowUp: at === -1 ? -1 : at - 1 }[event.key]
    if (next !== undefined && found.length > 0) {
      setOpen(true)
      setActive(found.at(next % found.length)?.id ?? null)
    } else if (event.key === 'Enter' && chosen) take(chosen)
    // Escape closes the list, and only then a dialog around it.
    else if (event.key === 'Escape' && isOpen) setOpen(false)
    else if (event.key !== 'Enter' || !strict) return
    event.preventDefault()
  }

  return (
    <>
      <TextField
        autoComplete="off"
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={isOpen ? id : undefined}
        aria-activedescendant={activeId}
        value={value}
        onChange={(event) => {
          setValue(event.target.value)
          setOpen(true)
          setActive(null)
        }}
        onKeyDown={move}
        onBlur={() => setOpen(false)}
        // Detaches the input from the form, which submits only a chosen contact.
        form={strict ? '' : undefined}
        hint={none ?? (!strict && same ? same.name : hint)}
        {...rest}
      >
        {isOpen && (
          <div id={id} role="listbox" aria-label={text.found} tabIndex={-1} className={styles.found}>
            {found.map((contact, n) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the list are those of the field.
              <div
                key={contact.id}
                id={`${id}-${n}`}
                role="option"
                tabIndex={-1}
                aria-selected={n === at}
                className={styles.contact}
                // The field keeps the focus.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => take(contact)}
              >
                {contact.name} <span className={parts.hint}>{contact.phone}</span>
              </div>
            ))}
          </div>
        )}
      </TextField>
      <p role="status" className={parts.unseen}>
        {isOpen ? text.foundSome(count(found.length)) : none}
      </p>
    </>
  )
}

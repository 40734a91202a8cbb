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

/** What is typed, without the spaces of a number, once nothing has changed for a moment. */
function useAsked(value: string): string {
  const [asked, setAsked] = useState('')
  const wanted = /^[+\d\s()-]+$/.test(value) ? numberIn(value) : value.trim()
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wanted), restMs)
    return () => clearTimeout(timer)
  }, [wanted])
  return wanted === '' ? '' : asked
}

function numberIn(value: string): string {
  return value.replaceAll(/[\s()-]/g, '')
}

export function ContactField({ value, setValue, choose, except, strict = false, hint = text.hint, ...rest }: ContactFieldProps) {
  const id = useId()
  const [open, setOpen] = useState(false)
  const [at, setAt] = useState(-1)
  const asked = useAsked(value)
  const isAsked = /[^+]/.test(asked)
  const { data, loading } = useRead(SearchContactsDocument, { search: asked }, { pause: !isAsked })
  const known = isAsked ? data?.contacts.nodes : undefined
  // A whole number needs no choice any more.
  const same = known?.find(({ phone }) => phone === numberIn(value))
  const found = known?.filter((contact) => contact !== same && !except?.includes(contact.id)) ?? []
  const isOpen = open && found.length > 0
  const none = strict && !loading && known?.length === 0 ? text.none : undefined

  function take(contact: FoundContactFragment): void {
    setOpen(false)
    setAt(-1)
    choose(contact)
  }

  function move(event: KeyboardEvent): void {
    const chosen = isOpen ? found[at] : undefined
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && found.length > 0) {
      setOpen(true)
      setAt((now) => (now === -1 && step === -1 ? found.length - 1 : (now + step + found.length) % found.length))
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
        aria-activedescendant={isOpen && found[at] ? `${id}-${at}` : undefined}
        value={value}
        onChange={(event) => {
          setValue(event.target.value)
          setOpen(true)
          setAt(-1)
        }}
        onKeyDown={move}
        onBlur={() => setOpen(false)}
        // What is typed is no value of the form then.
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

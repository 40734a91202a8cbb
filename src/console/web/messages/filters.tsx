// The filters above the list. They live in the address, so that a link shows the same list.

import { useEffect, useState } from 'react'
import { messageTypes } from '../graph/message-types.ts'
import { useInstances } from '../graph/use-instances.ts'
import type { Search } from '../navigation.tsx'
import { Choice, TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { words } from '../words/words.ts'
import { directions, statuses } from './filter.ts'
import styles from './filters.module.css'

interface FiltersProps {
  address: Search
  setAddress: (change: Search) => void
}

export function Filters({ address, setAddress }: FiltersProps) {
  const instances = useInstances()
  const { messages } = words
  const select = (label: string, name: string, options: readonly (readonly [string, string])[]) => (
    <Choice
      label={label}
      name={name}
      value={address[name] ?? ''}
      onChange={(event) => setAddress({ [name]: event.target.value })}
    >
      <option value="">{messages.all}</option>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </Choice>
  )
  const set = ['status', 'direction', 'type', 'instance', 'number'].filter((name) => address[name])
  const clear = () => setAddress(Object.fromEntries(set.map((name) => [name, undefined])))
  return (
    <search className={styles.filters} aria-label={messages.filters}>
      {select(
        messages.status,
        'status',
        statuses.map((status) => [status, words.status[status]]),
      )}
      {select(
        messages.direction,
        'direction',
        directions.map((direction) => [direction, words.direction[direction]]),
      )}
      {select(
        messages.typeColumn,
        'type',
        messageTypes.map((type) => [type, words.type[type]]),
      )}
      {select(
        messages.instance,
        'instance',
        instances.map(({ id, name }) => [id, name]),
      )}
      <NumberFilter value={address.number ?? ''} set={(number) => setAddress({ number })} />
      <button
        type="button"
        className={`${parts.button} ${parts.quiet} ${styles.clear}`}
        disabled={set.length === 0}
        onClick={clear}
      >
        {messages.clear}
      </button>
    </search>
  )
}

/** Applied when it is complete: with Enter, or when the field loses the focus. */
function NumberFilter({ value, set }: { value: string; set: (number: string) => void }) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  function apply(): void {
    const digits = typed.replaceAll(/[^\d]/g, '')
    const number = digits && `+${digits}`
    setTyped(number)
    if (number !== value) set(number)
  }
  return (
    <TextField
      label={words.messages.number}
      name="number"
      type="tel"
      placeholder={words.messages.numberHint}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={apply}
      onKeyDown={(event) => event.key === 'Enter' && apply()}
    />
  )
}

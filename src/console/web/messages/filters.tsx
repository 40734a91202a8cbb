// The filters above the list. They live in the address, so that a link shows the same list.

import { lazy, Suspense, useEffect, useState } from 'react'
import { isPhone } from '../graph/is-phone.ts'
import { messageTypes } from '../graph/message-types.ts'
import { useInstances } from '../graph/use-instances.ts'
import type { Search } from '../navigation.tsx'
import type { Issue } from '../session/auth-call.ts'
import { Choice, TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { words } from '../words/words.ts'
import { directions, statuses, statusesIn } from './filter.ts'
import styles from './filters.module.css'

const MoreFilters = lazy(async () => ({ default: (await import('./more-filters.tsx')).MoreFilters }))
const Chips = lazy(async () => ({ default: (await import('./chips.tsx')).Chips }))

interface FiltersProps {
  address: Search
  setAddress: (change: Search) => void
  /** The validation errors of the request with these filters. */
  issues: readonly Issue[] | undefined
}

const fields = ['status', 'direction', 'type', 'instance', 'number']
const others = ['from', 'until', 'campaign', 'contact', 'code', 'text']

export function Filters({ address, setAddress, issues }: FiltersProps) {
  const instances = useInstances()
  const [more, setMore] = useState(false)
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
  const set = [...fields, ...others].filter((name) => address[name])
  const clear = () => setAddress(Object.fromEntries(set.map((name) => [name, undefined])))
  const several = statusesIn(address.status)
  const severalOption =
    several.length > 1 ? [[address.status ?? '', several.map((one) => words.status[one]).join(', ')] as const] : []
  const hasChips = several.length > 1 || others.some((name) => address[name])
  return (
    <search className={styles.search} aria-label={messages.filters}>
      <div className={styles.filters}>
        {select(messages.status, 'status', [
          ...statuses.map((status) => [status, words.status[status]] as const),
          ...severalOption,
        ])}
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
        <NumberFilter value={address.number ?? ''} set={(number) => setAddress({ number })} issues={issues} />
      </div>
      <div className={styles.actions}>
        <button type="button" className={parts.button} onClick={() => setMore(true)}>
          {messages.moreFilters}
        </button>
        <button type="button" className={`${parts.button} ${parts.quiet}`} disabled={set.length === 0} onClick={clear}>
          {messages.clear}
        </button>
        {hasChips && (
          <Suspense>
            <Chips address={address} setAddress={setAddress} />
          </Suspense>
        )}
      </div>
      {more && (
        <Suspense>
          <MoreFilters address={address} setAddress={setAddress} close={() => setMore(false)} />
        </Suspense>
      )}
    </search>
  )
}

/** The time without a change after which a whole number is applied. */
const restMs = 600

/** The number that a text has, without its separators; empty if it has no digit. */
function numberIn(typed: string): string {
  const digits = typed.replaceAll(/[^\d]/g, '')
  return digits && `+${digits}`
}

interface NumberFilterProps extends Pick<FiltersProps, 'issues'> {
  value: string
  set: (number: string) => void
}

/** Applied after a pause in typing, and at once with Enter or when the field loses the focus. */
function NumberFilter({ value, set, issues }: NumberFilterProps) {
  const [typed, setTyped] = useState(value)
  // The filter has no separators. Those that were typed stay.
  useEffect(() => setTyped((before) => (numberIn(before) === value ? before : value)), [value])
  const number = numberIn(typed)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each pause applies what is typed.
  useEffect(() => {
    if (number === value || (number && !isPhone(number))) return
    const timer = setTimeout(() => set(number), restMs)
    return () => clearTimeout(timer)
  }, [number])
  function apply(): void {
    setTyped(number)
    if (number !== value) set(number)
  }
  return (
    <TextField
      label={words.messages.number}
      name="phone"
      type="tel"
      issues={issues}
      placeholder={words.messages.numberHint}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={apply}
      onKeyDown={(event) => event.key === 'Enter' && apply()}
    />
  )
}

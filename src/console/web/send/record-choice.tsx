// The choice of a record, such as a template. One that is deleted stays chosen, so that no other takes its place unseen: the gateway refuses it.
import { type ComponentProps, useState } from 'react'
import { Choice } from '../ui/field.tsx'
import { words } from '../words/words.ts'

interface WithId {
  id: string
}

/** The id that is chosen, at first the given one or that of the first record, and what chooses another. */
export function useChosen(records: readonly WithId[], given: string | undefined): [string | undefined, (id: string) => void] {
  const [chosen, choose] = useState(given)
  const first = records[0]?.id
  if (chosen === undefined && first !== undefined) choose(first)
  return [chosen, choose]
}

interface RecordChoiceProps<Row> extends Omit<ComponentProps<typeof Choice>, 'value' | 'onChange' | 'children'> {
  /** Empty until they are read. */
  records: readonly Row[]
  nameOf: (record: Row) => string
  chosen: string | undefined
  choose: (id: string) => void
}

export function RecordChoice<Row extends WithId>({ records, nameOf, chosen, choose, ...rest }: RecordChoiceProps<Row>) {
  const isGone = chosen !== undefined && records.length > 0 && !records.some(({ id }) => id === chosen)
  return (
    <Choice value={chosen} onChange={(event) => choose(event.target.value)} {...rest}>
      {isGone && <option value={chosen}>{words.notFound.title}</option>}
      {records.map((each) => (
        <option key={each.id} value={each.id}>
          {nameOf(each)}
        </option>
      ))}
    </Choice>
  )
}

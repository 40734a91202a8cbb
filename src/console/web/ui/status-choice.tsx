// The choice of a status that a list is filtered by.
import { Choice } from './field.tsx'

interface StatusChoiceProps<Status extends string> {
  label: string
  /** The label of the choice of no status. */
  all: string
  statuses: readonly Status[]
  names: Readonly<Record<Status, string>>
  value: Status | undefined
  /** Gets an empty text for no status. */
  choose: (status: string) => void
}

export function StatusChoice<Status extends string>({ label, all, statuses, names, value, choose }: StatusChoiceProps<Status>) {
  return (
    <Choice label={label} name="status" value={value ?? ''} onChange={(event) => choose(event.target.value)}>
      <option value="">{all}</option>
      {statuses.map((each) => (
        <option key={each} value={each}>
          {names[each]}
        </option>
      ))}
    </Choice>
  )
}

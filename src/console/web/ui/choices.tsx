// Choices that several pages offer: a status that a list is filtered by, and an instance.
import type { ComponentProps } from 'react'
import type { InstanceStatus } from '../generated/graph/graphql.ts'
import { words } from '../words/words.ts'
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

interface InstanceChoiceProps extends Omit<ComponentProps<typeof Choice>, 'name' | 'children'> {
  instances: readonly { id: string; name: string; status: InstanceStatus }[]
}

export function InstanceChoice({ instances, ...rest }: InstanceChoiceProps) {
  return (
    <Choice name="instanceId" {...rest}>
      {instances.map(({ id, name, status }) => (
        <option key={id} value={id}>
          {`${name} – ${words.instanceStatus[status]}`}
        </option>
      ))}
    </Choice>
  )
}

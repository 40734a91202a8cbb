// The choice of the instance that a form sends from.
import type { ComponentProps } from 'react'
import type { Instance } from '../graph/use-instances.ts'
import type { Choice } from '../ui/field.tsx'
import { words } from '../words/words.ts'
import { RecordChoice, useChosen } from './record-choice.tsx'

interface InstanceChoiceProps extends Pick<ComponentProps<typeof Choice>, 'label' | 'issues'> {
  instances: readonly Instance[]
  /** The id of the instance that is chosen at first. */
  given: string | undefined
}

export function InstanceChoice({ instances, given, ...rest }: InstanceChoiceProps) {
  const [chosen, choose] = useChosen(instances, given)
  const nameOf = ({ name, status }: Instance) => `${name} – ${words.instanceStatus[status]}`
  return <RecordChoice name="instanceId" records={instances} nameOf={nameOf} chosen={chosen} choose={choose} {...rest} />
}

// The type of the message that a form is about, or a template in its place.
import type { ComponentProps } from 'react'
import { sendTypes } from '../graph/message-types.ts'
import { Choice } from '../ui/field.tsx'
import { words } from '../words/words.ts'
import { byTemplate, type FormType } from './input.ts'
import { text } from './words.ts'

const types: readonly FormType[] = [...sendTypes, byTemplate]

/** The type of that name, or `text`. */
export function typeOf(given: string | undefined): FormType {
  return types.find((known) => known === given) ?? 'text'
}

interface TypeChoiceProps extends Pick<ComponentProps<typeof Choice>, 'issues'> {
  value: FormType
  choose: (type: FormType) => void
}

export function TypeChoice({ choose, ...rest }: TypeChoiceProps) {
  return (
    <Choice label={text.type} name="type" onChange={(event) => choose(typeOf(event.target.value))} {...rest}>
      {types.map((each) => (
        <option key={each} value={each}>
          {each === byTemplate ? text.byTemplate : words.type[each]}
        </option>
      ))}
    </Choice>
  )
}

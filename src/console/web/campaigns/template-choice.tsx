// The choice of the template that a campaign sends.
import type { ComponentProps } from 'react'
import type { FormTemplatesQuery } from '../generated/campaigns/graphql.ts'
import { RecordChoice, useChosen } from '../send/record-choice.tsx'
import type { Choice } from '../ui/field.tsx'
import { text } from './words.ts'

interface TemplateChoiceProps extends Pick<ComponentProps<typeof Choice>, 'issues'> {
  /** Undefined until they are read. */
  templates: FormTemplatesQuery['templates'] | undefined
  /** The id of the template that is chosen at first. */
  given: string | undefined
}

export function TemplateChoice({ templates: read, given, issues }: TemplateChoiceProps) {
  const templates = read ?? []
  const [chosen, choose] = useChosen(templates, given)
  return (
    <RecordChoice
      label={text.template}
      name="templateId"
      records={templates}
      nameOf={({ name }) => name}
      chosen={chosen}
      choose={choose}
      hint={read?.length === 0 ? text.noTemplates : undefined}
      issues={issues}
    />
  )
}

// The field for the time of a scheduled message or campaign.
import { shownZone } from '../preferences.ts'
import type { Issue } from '../session/auth-call.ts'
import type { Draft } from '../session/drafts.ts'
import { TextField } from '../ui/field.tsx'

interface WhenFieldProps {
  /** The label for a time zone. */
  label: (zone: string) => string
  /** The values of the draft. */
  said: Draft['said']
  issues: readonly Issue[]
}

/** The field is named `when`, not `scheduledAt`, because its value is a time in the zone that is shown. */
export function WhenField({ label, said, issues }: WhenFieldProps) {
  const own = issues.map(({ path, message }) => ({ path: path === 'scheduledAt' ? 'when' : path, message }))
  return <TextField label={label(shownZone())} name="when" type="datetime-local" defaultValue={said.when} issues={own} />
}

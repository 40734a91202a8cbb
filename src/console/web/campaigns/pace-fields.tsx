// The fields of a campaign's pace: its rate, and the hours in which it rests.
import { useState } from 'react'
import { shownZone } from '../preferences.ts'
import type { Issue } from '../session/auth-call.ts'
import { TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import type { Pace } from './campaign-input.ts'
import styles from './campaigns.module.css'
import { text } from './words.ts'

export function PaceFields({
  ratePerMinute,
  quietHours,
  isQuiet = Boolean(quietHours),
  issues,
}: Pace & { issues: readonly Issue[] }) {
  const [quiet, setQuiet] = useState(isQuiet)
  const issue = issues.find(({ path }) => path.startsWith('quietHours'))
  return (
    <>
      <TextField
        label={text.rate}
        name="ratePerMinute"
        inputMode="numeric"
        autoComplete="off"
        defaultValue={ratePerMinute ?? ''}
        hint={text.rateHint}
        issues={issues}
      />
      <label className={parts.row}>
        <input type="checkbox" name="quiet" checked={quiet} onChange={(event) => setQuiet(event.target.checked)} />
        {text.quiet}
      </label>
      <div hidden={!quiet}>
        <div className={styles.pair}>
          <TextField label={text.quietFrom} name="quietFrom" type="time" defaultValue={quietHours?.from ?? '21:00'} />
          <TextField
            label={text.quietTo}
            name="quietTo"
            type="time"
            defaultValue={quietHours?.to ?? '08:00'}
            hint={quietHours?.timeZone ?? shownZone()}
            issues={issue && [{ path: 'quietTo', message: issue.message }]}
          />
          <input type="hidden" name="quietZone" value={quietHours?.timeZone ?? shownZone()} />
        </div>
      </div>
    </>
  )
}

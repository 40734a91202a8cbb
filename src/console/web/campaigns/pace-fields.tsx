// The fields of a campaign's pace: its rate, and the hours in which it rests.
import { useState } from 'react'
import type { WholeCampaignFragment } from '../generated/campaigns/graphql.ts'
import { shownZone } from '../preferences.ts'
import type { Issue } from '../session/auth-call.ts'
import { TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import styles from './campaigns.module.css'
import { text } from './words.ts'

interface PaceProps extends Partial<Pick<WholeCampaignFragment, 'ratePerMinute' | 'quietHours'>> {
  issues: readonly Issue[]
}

export function PaceFields({ ratePerMinute, quietHours, issues }: PaceProps) {
  const [quiet, setQuiet] = useState(Boolean(quietHours))
  const issue = issues.find(({ path }) => path.startsWith('quietHours'))
  return (
    <>
      <TextField
        label={text.rate}
        name="ratePerMinute"
        type="number"
        inputMode="numeric"
        min={1}
        max={6000}
        defaultValue={ratePerMinute ?? ''}
        hint={text.rateHint}
        issues={issues}
      />
      <label className={parts.row}>
        <input type="checkbox" name="quiet" checked={quiet} onChange={(event) => setQuiet(event.target.checked)} />
        {text.quiet}
      </label>
      {quiet && (
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
      )}
    </>
  )
}

// The dialog of the filters that are needed less often. It loads when it is opened.
import { useState } from 'react'
import { ContactChoice } from '../contact-search/contact-choice.tsx'
import { text as failures } from '../failures/words.ts'
import { CampaignNamesDocument } from '../generated/messages/graphql.ts'
import { useList } from '../graph/use-list.ts'
import type { Search } from '../navigation.tsx'
import { shownZone } from '../preferences.ts'
import { localIn, momentIn } from '../send/input.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Choice, TextField } from '../ui/field.tsx'
import { More } from '../ui/more.tsx'
import parts from '../ui/parts.module.css'
import { submits } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { errorCodes } from './error-codes.ts'
import { statuses, statusesIn } from './filter.ts'
import styles from './filters.module.css'
import { text } from './words.ts'

interface MoreFiltersProps {
  address: Search
  setAddress: (change: Search) => void
  close: () => void
}

export function MoreFilters({ address, setAddress, close }: MoreFiltersProps) {
  const campaigns = useList(
    CampaignNamesDocument,
    {},
    (data) => data.campaigns,
    ({ id }) => id,
  )
  const [campaign, setCampaign] = useState(address.campaign ?? '')
  const chosen = statusesIn(address.status)
  const zone = shownZone()
  const isOther = address.campaign && !campaigns.rows.some(({ id }) => id === address.campaign)
  function apply(fields: FormData): void {
    const said = (name: string) => String(fields.get(name) ?? '').trim()
    const moment = (name: string) => said(name) && momentIn(zone, said(name))
    setAddress({
      status: fields.getAll('status').join(','),
      from: moment('from'),
      until: moment('until'),
      campaign: said('campaign'),
      contact: said('contact'),
      code: said('code'),
      text: said('text'),
    })
    close()
  }
  return (
    <Dialog title={words.messages.moreFilters} close={close}>
      <form className={parts.stack} onSubmit={submits(apply)}>
        <fieldset className={styles.statuses}>
          <legend className={parts.label}>{words.messages.status}</legend>
          {statuses.map((status) => (
            <label key={status} className={parts.row}>
              <input type="checkbox" name="status" value={status} defaultChecked={chosen.includes(status)} />
              {words.status[status]}
            </label>
          ))}
        </fieldset>
        <div className={styles.moments}>
          <TextField
            label={text.from(zone)}
            name="from"
            type="datetime-local"
            defaultValue={address.from && localIn(zone, address.from)}
          />
          <TextField
            label={text.to(zone)}
            name="until"
            type="datetime-local"
            defaultValue={address.until && localIn(zone, address.until)}
          />
        </div>
        <Choice label={text.campaign} name="campaign" value={campaign} onChange={(event) => setCampaign(event.target.value)}>
          <option value="">{words.messages.all}</option>
          {isOther && <option value={address.campaign}>{address.campaign}</option>}
          {campaigns.rows.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Choice>
        <More list={campaigns} />
        <ContactChoice name="contact" given={address.contact} />
        <Choice label={text.code} name="code" defaultValue={address.code ?? ''}>
          <option value="">{words.messages.all}</option>
          {errorCodes.map((code) => (
            <option key={code} value={code}>
              {failures.byCode[code]?.[0] ?? code}
            </option>
          ))}
        </Choice>
        <TextField
          label={text.text}
          name="text"
          maxLength={200}
          hint={text.textHint}
          defaultValue={address.text}
          autoComplete="off"
        />
        <div className={parts.row}>
          <button type="submit" className={`${parts.button} ${parts.main}`}>
            {text.apply}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

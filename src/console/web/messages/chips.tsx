// The filters that have no field above the list, each with a button that removes it. They load when the address has one of them.
import { X } from 'lucide-react'
import { text as failures } from '../failures/words.ts'
import { FilteredCampaignDocument, FilteredContactDocument } from '../generated/messages/graphql.ts'
import { useRead } from '../graph/use-read.ts'
import type { Search } from '../navigation.tsx'
import { shownZone } from '../preferences.ts'
import parts from '../ui/parts.module.css'
import { exactTime } from '../ui/time.tsx'
import { words } from '../words/words.ts'
import { statusesIn } from './filter.ts'
import styles from './filters.module.css'
import { text } from './words.ts'

export function Chips({ address, setAddress }: { address: Search; setAddress: (change: Search) => void }) {
  const { status, from, until, campaign = '', contact = '', code, text: searched } = address
  const campaignName = useRead(FilteredCampaignDocument, { id: campaign }, { pause: !campaign }).data?.campaign?.name
  const contactName = useRead(FilteredContactDocument, { id: contact }, { pause: !contact }).data?.contact?.name
  const zone = shownZone()
  const several = statusesIn(status)
  const chips = [
    ['status', words.messages.status, several.length > 1 && several.map((one) => words.status[one]).join(', ')],
    ['from', text.from(zone), from && timeOf(from)],
    ['until', text.to(zone), until && timeOf(until)],
    ['campaign', text.campaign, campaignName ?? campaign],
    ['contact', text.contact, contactName ?? contact],
    ['code', text.code, code && (failures.byCode[code]?.[0] ?? code)],
    ['text', text.text, searched],
  ] as const
  return (
    <ul aria-label={text.chosen} className={parts.row}>
      {chips
        .filter(([, , value]) => value)
        .map(([name, label, value]) => (
          <li key={name}>
            <button
              type="button"
              className={`${parts.button} ${styles.chip}`}
              aria-label={text.remove(`${label}: ${value}`)}
              onClick={() => setAddress({ [name]: undefined })}
            >
              {`${label}: ${value}`}
              <X size={14} aria-hidden />
            </button>
          </li>
        ))}
    </ul>
  )
}

/** An address may be edited by hand. */
function timeOf(moment: string): string {
  return Number.isNaN(Date.parse(moment)) ? moment : exactTime(moment)
}

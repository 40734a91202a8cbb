// The recipients of a campaign, by status and reason. Their messages move while one looks.
import { Clock } from 'lucide-react'
import { useEffect } from 'react'
import {
  type CampaignRecipientStatus,
  type MessageStatus,
  RecipientsDocument,
  type RecipientsQuery,
  type StatsRowFragment,
} from '../generated/campaigns/graphql.ts'
import { type Messages, newer } from '../graph/newer.ts'
import { useList } from '../graph/use-list.ts'
import { useSoon } from '../graph/use-soon.ts'
import { pathIn, To, useAddress } from '../navigation.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import { More } from '../ui/more.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Status } from '../ui/status.tsx'
import { StatusChoice } from '../ui/status-choice.tsx'
import { Row, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { words } from '../words/words.ts'
import styles from './campaigns.module.css'
import { reasonIn } from './reasons.tsx'
import { text } from './words.ts'

const statuses: readonly CampaignRecipientStatus[] = ['planned', 'queued', 'sent', 'delivered', 'read', 'failed', 'cancelled']

type Recipient = NonNullable<RecipientsQuery['campaign']>['recipients']['nodes'][number]

function withMessage(row: Recipient, messages: Messages): Recipient {
  const message = row.message && newer(row.message, messages)
  return message === row.message ? row : { ...row, message }
}

export function RecipientTable({ id, stats }: { id: string; stats: StatsRowFragment }) {
  const { team } = useWorkspace()
  const [address, setAddress] = useAddress()
  const status = statuses.find((known) => known === address.status)
  const error = status === 'failed' || status === 'cancelled' ? address.error : undefined
  const list = useList(
    RecipientsDocument,
    { id, first: 50, ...(status && { status }), ...(error && { error }) },
    (data) => data.campaign?.recipients,
    ({ to }) => to,
    withMessage,
  )
  const soon = useSoon(list.refresh)
  const counters = JSON.stringify(stats.stats)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other counters mean other rows.
  useEffect(soon, [counters])
  return (
    <div className={parts.stack}>
      <div className={styles.filter}>
        <StatusChoice
          label={text.status}
          all={text.all}
          statuses={statuses}
          names={text.states}
          value={status}
          choose={(status) => setAddress({ status, error: undefined })}
        />
        {error && (
          <button type="button" className={parts.button} onClick={() => setAddress({ error: undefined })}>
            {text.onlyReason(reasonIn(error))} ×
          </button>
        )}
      </div>
      <Refusal error={list.error} />
      <Table
        name={text.recipients}
        columns={[text.number, text.status, text.reason, text.changed, text.message]}
        loading={list.loading}
        failed={list.error !== undefined}
        empty={<p>{text.noRecipients}</p>}
      >
        {list.rows.map(({ to, status: state, error: code, updatedAt, contact, message }) => (
          <Row
            key={to}
            cells={[
              contact ? (
                <span key="to">
                  <To to={pathIn(team, `contacts/${contact.id}`)}>{contact.name}</To> <span className={parts.hint}>{to}</span>
                </span>
              ) : (
                to
              ),
              state === 'planned' && !message ? (
                <span key="status" className={styles.status} data-status="scheduled">
                  <Clock size={14} aria-hidden />
                  {text.states.planned}
                </span>
              ) : (
                <Status key="status" status={message?.status ?? (state as MessageStatus)} />
              ),
              reasonIn(code),
              <Time key="changed" at={message?.updatedAt ?? updatedAt} />,
              message ? (
                <To key="message" to={pathIn(team, `messages/${message.id}`)}>
                  {text.open}
                </To>
              ) : (
                words.none
              ),
            ]}
          />
        ))}
      </Table>
      <More list={list} />
    </div>
  )
}

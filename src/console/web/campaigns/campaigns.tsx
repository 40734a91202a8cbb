// The campaigns of the workspace, newest first, as they move.
import { Plus } from 'lucide-react'
import { CampaignsDocument } from '../generated/campaigns/graphql.ts'
import { useList } from '../graph/use-list.ts'
import { useSoon } from '../graph/use-soon.ts'
import { pathIn, To, useAddress } from '../navigation.tsx'
import { useFrames, useWorkspace } from '../shell/workspace-context.ts'
import { More } from '../ui/more.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { StatusChoice } from '../ui/status-choice.tsx'
import { Row, Table } from '../ui/table.tsx'
import { exactTime, Time } from '../ui/time.tsx'
import { count } from '../words/words.ts'
import { CampaignStatus, campaignStatuses } from './campaign-status.tsx'
import styles from './campaigns.module.css'
import { percent } from './progress.tsx'
import { text } from './words.ts'

export function Campaigns() {
  const { team } = useWorkspace()
  const [address, setAddress] = useAddress()
  const status = campaignStatuses.find((known) => known === address.status)
  const list = useList(
    CampaignsDocument,
    { first: 20, ...(status && { status }) },
    (data) => data.campaigns,
    ({ id }) => id,
  )
  const soon = useSoon(list.refresh)
  useFrames((events) => {
    if (events.some(({ type, message }) => type === 'campaign_changed' || message?.campaignId)) soon()
  })
  const create = (
    <To to={pathIn(team, 'campaigns/new')} className={`${parts.button} ${parts.main}`}>
      <Plus size={15} aria-hidden />
      {text.create}
    </To>
  )
  return (
    <Page title={text.title} actions={create}>
      <div className={styles.filter}>
        <StatusChoice
          label={text.status}
          all={text.all}
          statuses={campaignStatuses}
          names={text.statuses}
          value={status}
          choose={(status) => setAddress({ status })}
        />
      </div>
      <Refusal error={list.error} />
      <Table
        name={text.title}
        columns={[text.name, text.status, text.instance, text.progress, text.recipients, text.failed, text.created]}
        loading={list.loading}
        failed={list.error !== undefined}
        empty={
          status ? (
            <p>{text.emptyFiltered}</p>
          ) : (
            <>
              <h2>{text.emptyTitle}</h2>
              <p>{text.empty}</p>
            </>
          )
        }
      >
        {list.rows.map(({ id, name, status: state, instance, recipientsCount, scheduledFor, createdAt, stats }) => (
          <Row
            key={id}
            cells={[
              <To key="name" to={pathIn(team, `campaigns/${id}`)}>
                {name}
              </To>,
              <span key="status" title={state === 'scheduled' && scheduledFor ? text.starts(exactTime(scheduledFor)) : undefined}>
                <CampaignStatus status={state} />
              </span>,
              instance.name,
              <span key="progress" className={styles.small}>
                <progress aria-label={`${text.progress}: ${name}`} max={100} value={stats.progressPercent} />
                {percent(stats.progressPercent / 100)}
              </span>,
              count(recipientsCount),
              count(stats.stats.failed),
              <Time key="created" at={createdAt} />,
            ]}
          />
        ))}
      </Table>
      <More list={list} />
    </Page>
  )
}

// One campaign as it moves: how far it is, why some failed, who they are, and what can be done.
import { Download } from 'lucide-react'
import { useEffect, useState } from 'react'
import { CampaignDocument, CourseDocument, type WholeCampaignFragment } from '../generated/campaigns/graphql.ts'
import { download } from '../graph/download.ts'
import { useRead } from '../graph/use-read.ts'
import { useSoon } from '../graph/use-soon.ts'
import { pathIn, To, usePart } from '../navigation.tsx'
import { NotFound } from '../shell/not-found.tsx'
import { useFrames, useWorkspace } from '../shell/workspace-context.ts'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { useTask } from '../ui/use-task.ts'
import { count, words } from '../words/words.ts'
import { ActionDialog, type CampaignAction } from './actions.tsx'
import { isOpen } from './campaign-status.tsx'
import { useStats } from './follow-stats.ts'
import { Progress } from './progress.tsx'
import { Reasons } from './reasons.tsx'
import { RecipientTable } from './recipient-table.tsx'
import { Throughput } from './throughput.tsx'
import { text } from './words.ts'

export function Campaign() {
  const id = usePart('campaignId')
  const { data, error, loading, again } = useRead(CampaignDocument, { id })
  useFrames((events) => {
    if (events.some(({ type }) => type === 'campaign_changed')) again()
  })
  if (data?.campaign) return <Shown campaign={data.campaign} error={error} again={again} />
  if (!loading && (error?.code === 'NOT_FOUND' || error?.code === 'VALIDATION_ERROR')) return <NotFound />
  return <Page title={text.campaign}>{error ? <Refusal error={error} /> : words.loading}</Page>
}

interface ShownProps {
  campaign: WholeCampaignFragment
  error: unknown
  again: () => void
}

function Shown({ campaign, error, again }: ShownProps) {
  const { team } = useWorkspace()
  const { id, name, instance } = campaign
  const stats = useStats(campaign.stats)
  const course = useRead(CourseDocument, { id })
  const [action, setAction] = useState<CampaignAction | null>(null)
  const csv = useTask(() => download(team, `campaigns/${id}/recipients.csv`, 'recipients.csv'))
  const soon = useSoon(() => {
    course.again()
    again()
  })
  const counters = JSON.stringify(stats)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other counters mean another course and another end.
  useEffect(soon, [counters])
  const { status } = stats
  const found = course.data?.campaign
  const { failed } = stats.stats
  const act = (what: CampaignAction, label: string, style = '') => (
    <button type="button" className={`${parts.button} ${style}`} onClick={() => setAction(what)}>
      {label}
    </button>
  )
  return (
    <Page
      title={name}
      actions={
        <>
          {(status === 'running' || status === 'scheduled') && act('pause', text.pause)}
          {status === 'paused' && act('resume', text.resume, parts.main)}
          {isOpen(status) && act('edit', words.actions.edit)}
          <button type="button" className={parts.button} disabled={csv.running} onClick={() => csv.run()}>
            <Download size={15} aria-hidden />
            {words.actions.exportCsv}
          </button>
          {failed > 0 && (
            <To to={pathIn(team, 'campaigns/new')} search={{ again: id }} className={parts.button}>
              {text.again(count(failed))}
            </To>
          )}
          {isOpen(status) && act('cancel', text.cancel, parts.danger)}
        </>
      }
    >
      <Refusal error={csv.error ?? error ?? course.error} />
      {campaign.error && text.endedBecause[campaign.error] && (
        <p role="status" className={`${parts.note} ${parts.refused}`}>
          {text.endedBecause[campaign.error]}
        </p>
      )}
      {isOpen(status) && instance.status !== 'connected' && (
        <p className={parts.note}>
          {text.notConnected(instance.name)} <To to={pathIn(team, `instances/${instance.id}`)}>{text.instance}</To>
        </p>
      )}
      <div className={parts.columns}>
        <Progress campaign={campaign} stats={stats} />
        <div className={parts.stack}>
          <Throughput read={found?.progress} ratePerMinute={campaign.ratePerMinute ?? null} status={status} />
          <Reasons failures={found?.failures} />
        </div>
      </div>
      <RecipientTable id={id} stats={stats} />
      {action && <ActionDialog campaign={campaign} stats={stats.stats} action={action} close={() => setAction(null)} />}
    </Page>
  )
}

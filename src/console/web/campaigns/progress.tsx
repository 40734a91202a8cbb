// How far a campaign is: one bar whose parts are its counters, and what they are.
import type { ReactNode } from 'react'
import { CampaignTemplateDocument, type StatsRowFragment, type WholeCampaignFragment } from '../generated/campaigns/graphql.ts'
import { useRead } from '../graph/use-read.ts'
import { pathIn, To } from '../navigation.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import parts from '../ui/parts.module.css'
import { Time } from '../ui/time.tsx'
import { count, words } from '../words/words.ts'
import { CampaignStatus } from './campaign-status.tsx'
import styles from './campaigns.module.css'
import { text } from './words.ts'

/** The furthest state comes first. */
const order = ['read', 'delivered', 'sent', 'queued', 'planned', 'failed', 'cancelled'] as const

/** A share of 1, in the reader's language. */
export function percent(share: number): string {
  const format = { style: 'percent', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(document.documentElement.lang, format).format(share)
}

interface ProgressProps {
  campaign: WholeCampaignFragment
  stats: StatsRowFragment
}

export function Progress({ campaign, stats: { status, stats, progressPercent } }: ProgressProps) {
  const done = text.ofTotal(count(stats.total - stats.planned - stats.queued), count(stats.total))
  return (
    <section className={parts.panel} aria-label={text.progress}>
      <div className={parts.panelHead}>
        <h2>{text.progress}</h2>
        <span role="status">
          <CampaignStatus status={status} />
        </span>
      </div>
      <div className={`${parts.panelBody} ${parts.stack}`}>
        <div
          role="progressbar"
          aria-label={text.progress}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={progressPercent}
          aria-valuetext={done}
          className={styles.bar}
        >
          {order.map(
            (state) =>
              stats[state] > 0 && (
                <div key={state} className={styles.part} data-state={state} style={{ flexGrow: stats[state] }} />
              ),
          )}
        </div>
        <p className={parts.hint}>{done}</p>
        <dl className={styles.counters} aria-label={text.counters}>
          {order.map((state) => (
            <div key={state} className={styles.counter}>
              <dt>
                <span className={styles.swatch} data-state={state} />
                {text.states[state]}
              </dt>
              <dd>
                <strong>{count(stats[state])}</strong>{' '}
                <span className={parts.hint}>{stats.total > 0 && percent(stats[state] / stats.total)}</span>
              </dd>
            </div>
          ))}
        </dl>
        <Facts campaign={campaign} />
      </div>
    </section>
  )
}

function Facts({
  campaign: { instance, type, templateId, ratePerMinute, quietHours, nextAt, lastAt, createdAt },
}: Pick<ProgressProps, 'campaign'>) {
  return (
    <dl className={parts.details}>
      {nextAt && <Fact name={text.next} value={<Time at={nextAt} exact />} />}
      {lastAt && <Fact name={text.last} value={<Time at={lastAt} exact />} />}
      <Fact name={text.rate} value={ratePerMinute === null || ratePerMinute === undefined ? text.noRate : count(ratePerMinute)} />
      {quietHours && <Fact name={text.quiet} value={text.quietOf(quietHours.from, quietHours.to, quietHours.timeZone)} />}
      <Fact name={text.instance} value={instance.name} />
      <Fact name={text.type} value={words.type[type]} />
      {templateId && <Fact name={text.template} value={<TemplateName id={templateId} />} />}
      <Fact name={text.created} value={<Time at={createdAt} exact />} />
    </dl>
  )
}

function Fact({ name, value }: { name: string; value: ReactNode }) {
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

/** Its name leads to its page, until it is deleted. */
function TemplateName({ id }: { id: string }) {
  const { team } = useWorkspace()
  const { data, error } = useRead(CampaignTemplateDocument, { id })
  if (data?.template) return <To to={pathIn(team, `templates/${id}`)}>{data.template.name}</To>
  return error?.code === 'NOT_FOUND' ? words.notFound.title : words.none
}

// The usage of the plan in this billing period, and the messages of each day.
import { UsagePageDocument, type UsagePageQuery } from '../generated/usage/graphql.ts'
import { useRead } from '../graph/use-read.ts'
import { Meter } from '../ui/meter.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { count, words } from '../words/words.ts'
import { text } from './words.ts'

type Used = UsagePageQuery['usage']

export function UsagePage() {
  const { data, error, loading } = useRead(UsagePageDocument, {})
  const days = (data?.usage.days ?? []).toReversed()
  return (
    <Page title={text.title}>
      <Refusal error={error} />
      {data && <Period {...data.usage} />}
      <Table
        name={text.days}
        columns={[
          text.day,
          words.status.sent,
          words.status.delivered,
          words.status.read,
          words.status.failed,
          words.status.received,
        ]}
        loading={loading}
        empty={<p>{text.empty}</p>}
      >
        {days.map(({ day, sent, delivered, read, failed, received }) => (
          <Row key={day} cells={[day, ...[sent, delivered, read, failed, received].map(count)]} />
        ))}
      </Table>
      <p className={parts.hint}>{text.daysNote}</p>
    </Page>
  )
}

function Period({ periodStart, periodEnd, plan, effectiveOutboundUsage, apiRequestsCount, mediaBytes }: Used) {
  const { monthlyOutboundQuota, monthlyApiRequestQuota, maxMediaBytes } = plan.limits
  return (
    <section className={parts.panel} aria-label={text.period}>
      <div className={parts.panelHead}>
        <h2>{text.period}</h2>
        <span className={parts.hint}>
          {plan.name} · <Time at={periodStart} /> – <Time at={periodEnd} />
        </span>
      </div>
      <div className={`${parts.panelBody} ${parts.stack}`}>
        <Meter name={text.messages} value={effectiveOutboundUsage} max={monthlyOutboundQuota} />
        <Meter name={text.requests} value={apiRequestsCount} max={monthlyApiRequestQuota} />
        <Meter
          name={text.media}
          value={mediaBytes}
          max={maxMediaBytes}
          detail={`${megabytes(mediaBytes)} / ${megabytes(maxMediaBytes)}`}
        />
      </div>
    </section>
  )
}

function megabytes(bytes: number): string {
  const format = { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(document.documentElement.lang, format).format(bytes / 1_048_576)
}

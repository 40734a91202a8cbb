// The usage of the plan in this billing period, and the messages and API requests of each day.
import {
  UsageOfInstanceDocument,
  type UsageOfInstanceQuery,
  UsagePageDocument,
  type UsagePageQuery,
} from '../generated/usage/graphql.ts'
import { useInstances } from '../graph/use-instances.ts'
import { useRead } from '../graph/use-read.ts'
import { useRefresh } from '../graph/use-refresh.ts'
import { useAddress } from '../navigation.tsx'
import { Managed } from '../shell/managed.tsx'
import { bytes } from '../ui/bytes.ts'
import { Chart, type Point } from '../ui/chart.tsx'
import { Choice } from '../ui/field.tsx'
import { Meter } from '../ui/meter.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { exactTime, Time } from '../ui/time.tsx'
import { count, words } from '../words/words.ts'
import { text } from './words.ts'

type Used = UsagePageQuery['usage']

export function UsagePage() {
  return (
    <Managed title={text.title} closed={text.closed}>
      <Shown />
    </Managed>
  )
}

function Shown() {
  const [{ instance }, setAddress] = useAddress()
  const instances = useInstances()
  const { data, error, loading, again } = useRead(UsagePageDocument, {})
  useRefresh(true, again, 10_000)
  return (
    <Page title={text.title}>
      <Refusal error={error} />
      {!data && loading && <p>{words.loading}</p>}
      {data && (
        <>
          <Period {...data.usage} />
          <div className={parts.row}>
            <Choice
              label={words.messages.instance}
              name="instance"
              value={instance ?? ''}
              onChange={(event) => setAddress({ instance: event.target.value })}
            >
              <option value="">{words.messages.all}</option>
              {instances.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </Choice>
          </div>
          {/* Another instance begins without the counts of the one before. */}
          {instance ? <OfInstance key={instance} instanceId={instance} /> : <OfAll days={data.usage.days} loading={loading} />}
          <p className={parts.hint}>{text.daysNote}</p>
        </>
      )}
    </Page>
  )
}

function OfAll({ days, loading }: { days: Used['days']; loading: boolean }) {
  const requests = days.map(({ day, requests }) => ({ label: day, value: requests ?? 0 }))
  return <Days {...{ days, requests, loading }} />
}

function OfInstance({ instanceId }: { instanceId: string }) {
  const { data, error, loading, again } = useRead(UsageOfInstanceDocument, { instanceId })
  useRefresh(true, again, 10_000)
  return (
    <>
      <Refusal error={error} />
      <Days days={data?.usage.days ?? []} loading={loading} failed={error !== undefined} />
    </>
  )
}

interface DaysProps {
  days: UsageOfInstanceQuery['usage']['days']
  /** By day; undefined for one instance, because requests are not those of one. */
  requests?: Point[]
  loading: boolean
  failed?: boolean
}

function Days({ days, requests, loading, failed = false }: DaysProps) {
  return (
    <>
      <div className={parts.columns}>
        <ByDay name={text.sentByDay} points={days.map(({ day, sent }) => ({ label: day, value: sent }))} />
        {requests && <ByDay name={text.requestsByDay} points={requests} />}
      </div>
      <Table
        name={text.days}
        columns={[
          text.day,
          words.status.sent,
          words.status.delivered,
          words.status.read,
          words.status.failed,
          words.status.received,
          ...(requests ? [text.requests] : []),
        ]}
        loading={loading}
        failed={failed}
        empty={<p>{text.empty}</p>}
      >
        {days
          .map(({ day, sent, delivered, read, failed, received }, n) => {
            const counts = [sent, delivered, read, failed, received, ...(requests ? [requests[n]?.value ?? 0] : [])]
            return <Row key={day} cells={[day, ...counts.map(count)]} />
          })
          .toReversed()}
      </Table>
    </>
  )
}

function ByDay({ name, points }: { name: string; points: readonly Point[] }) {
  return (
    <section className={parts.panel} aria-label={name}>
      <div className={parts.panelHead}>
        <h2>{name}</h2>
      </div>
      <div className={parts.panelBody}>
        <Chart name={name} points={points} format={count} low />
      </div>
    </section>
  )
}

/** The use of the whole period if it goes on as before; null in its first day, which tells little. */
export function projected(used: number, from: string, to: string, now = Date.now()): number | null {
  const [start, end] = [Date.parse(from), Date.parse(to)]
  if (now - start < 86_400_000 || now >= end) return null
  return Math.round((used * (end - start)) / (now - start))
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
        <p>{text.resets(exactTime(periodEnd))}</p>
        <Meter name={text.messages} value={effectiveOutboundUsage} max={monthlyOutboundQuota} />
        <Projection used={effectiveOutboundUsage} max={monthlyOutboundQuota} from={periodStart} to={periodEnd} />
        <Meter name={text.requests} value={apiRequestsCount} max={monthlyApiRequestQuota} />
        <Projection used={apiRequestsCount} max={monthlyApiRequestQuota} from={periodStart} to={periodEnd} />
        <Meter
          name={text.media}
          value={mediaBytes}
          max={maxMediaBytes}
          detail={`${bytes(mediaBytes)} / ${bytes(maxMediaBytes)}`}
        />
      </div>
    </section>
  )
}

function Projection({ used, max, from, to }: { used: number; max: number; from: string; to: string }) {
  const whole = projected(used, from, to)
  if (whole === null || used === 0) return null
  return <p className={parts.hint}>{whole > max ? text.tooMuch(count(whole), count(max)) : text.projected(count(whole))}</p>
}

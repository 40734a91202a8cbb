// The recommended limits of an instance for the next days, with what is planned for them.
import { ForecastDocument } from '../generated/instances/graphql.ts'
import { useRead } from '../graph/use-read.ts'
import { Chart } from '../ui/chart.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { dayOf, Time } from '../ui/time.tsx'
import { count, words } from '../words/words.ts'
import { text } from './words.ts'

export function Forecast({ id }: { id: string }) {
  const { data, error } = useRead(ForecastDocument, { id })
  const days = data?.instance?.safetyForecast ?? []
  const points = days.map(({ at, dailyOutboundCap, scheduled, campaigns }) => ({
    label: dayOf(at),
    value: scheduled + campaigns,
    bound: dailyOutboundCap,
  }))
  const over = points.filter(({ value, bound }) => value > bound)
  return (
    <>
      <h3>{text.forecast}</h3>
      <Refusal error={error} />
      {days.length > 0 && (
        <>
          <Chart name={text.forecast} points={points} format={count} />
          <p className={parts.hint}>{text.forecastNote}</p>
          {over.length > 0 && (
            <ul className={parts.note} aria-label={text.planned}>
              {over.map(({ label, value, bound }) => (
                <li key={label}>{text.overOn(label, count(value), count(bound))}</li>
              ))}
            </ul>
          )}
          <details>
            <summary>{words.asTable}</summary>
            <Table
              name={text.forecast}
              columns={[text.from24h, text.status, text.daily, text.dailyRecipients, text.scheduled, text.ofCampaigns]}
              loading={false}
              empty={null}
            >
              {days.map(({ at, state, dailyOutboundCap, dailyUniqueRecipientsCap, scheduled, campaigns }) => (
                <Row
                  key={at}
                  cells={[
                    <Time key="at" at={at} />,
                    words.safety.states[state],
                    ...[dailyOutboundCap, dailyUniqueRecipientsCap, scheduled, campaigns].map(count),
                  ]}
                />
              ))}
            </Table>
          </details>
        </>
      )}
    </>
  )
}

// The messages that were sent on the last days. Collaborators of a team do not see its usage.
import { TrendDocument } from '../generated/home/graphql.ts'
import { useRead } from '../graph/use-read.ts'
import { useManages } from '../shell/workspace-context.ts'
import { Chart } from '../ui/chart.tsx'
import parts from '../ui/parts.module.css'
import { Row, Table } from '../ui/table.tsx'
import { count, words } from '../words/words.ts'
import { text as home } from './words.ts'

interface Props {
  /** True once what stands above is known: until then its rows would move the chart. */
  settled: boolean
}

export function Trend({ settled }: Props) {
  const { data } = useRead(TrendDocument, {}, { pause: !useManages() })
  const days = data?.usage.days ?? []
  if (!settled || days.length === 0) return null
  return (
    <section className={parts.panel} aria-label={home.trend}>
      <div className={parts.panelHead}>
        <h2>{home.trend}</h2>
      </div>
      <div className={`${parts.panelBody} ${parts.stack}`}>
        <Chart name={home.trend} points={days.map(({ day, sent }) => ({ label: day, value: sent }))} format={count} low />
        <details>
          <summary>{words.asTable}</summary>
          <Table name={home.trend} columns={[home.day, home.sent, home.failed]} loading={false} empty={null}>
            {days.toReversed().map(({ day, sent, failed }) => (
              <Row key={day} cells={[day, count(sent), count(failed)]} />
            ))}
          </Table>
        </details>
      </div>
    </section>
  )
}

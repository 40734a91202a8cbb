// The messages of a campaign over its time: bars by part of the time, with the times at rest shaded, and the same as a table.
import type { CampaignStatus, CourseQuery } from '../generated/campaigns/graphql.ts'
import parts from '../ui/parts.module.css'
import { Row, Table } from '../ui/table.tsx'
import { shortTime, Time } from '../ui/time.tsx'
import { count, words } from '../words/words.ts'
import styles from './campaigns.module.css'
import { restsOf } from './rests.ts'
import { text } from './words.ts'

export type Bucket = NonNullable<CourseQuery['campaign']>['progress'][number]

interface ThroughputProps {
  /** Undefined until they are read. */
  read: readonly Bucket[] | undefined
  ratePerMinute: number | null
  status: CampaignStatus
}

const height = 120

export function Throughput({ read, ratePerMinute, status }: ThroughputProps) {
  const buckets = read ?? []
  const [first, last] = [buckets[0], buckets.at(-1)]
  const sent = buckets.reduce((sum, bucket) => sum + bucket.sent, 0)
  const busy = buckets.filter((bucket) => bucket.sent + bucket.failed > 0)
  const most = Math.max(1, ...buckets.map((bucket) => bucket.sent + bucket.failed))
  const rests = restsOf(buckets, ratePerMinute, status)
  return (
    <section className={parts.panel} aria-label={text.throughput}>
      <div className={parts.panelHead}>
        <h2>{text.throughput}</h2>
        {busy.length > 0 && (
          <ul className={styles.legend}>
            <Key kind="sent" name={text.sentBar} />
            <Key kind="failed" name={text.failedBar} />
            {rests.size > 0 && <Key kind="rest" name={text.restBar} />}
          </ul>
        )}
      </div>
      <div className={`${parts.panelBody} ${parts.stack}`}>
        {busy.length === 0 || !first || !last ? (
          <p className={parts.hint}>{read ? text.noThroughput : words.loading}</p>
        ) : (
          <>
            <figure className={styles.chart}>
              <span className={styles.most} aria-hidden>
                {count(most)}
              </span>
              <svg
                role="img"
                aria-label={text.throughputOf(count(sent), shortTime(first.from), shortTime(last.to))}
                viewBox={`0 0 ${buckets.length} ${height}`}
                preserveAspectRatio="none"
                className={styles.plot}
              >
                {buckets.map((bucket, n) => (
                  <Bar key={bucket.from} bucket={bucket} n={n} scale={height / most} rests={rests.has(n)} />
                ))}
              </svg>
              <figcaption className={styles.axis} aria-hidden>
                <Time at={first.from} />
                <Time at={last.to} />
              </figcaption>
            </figure>
            <details>
              <summary>{text.asTable}</summary>
              <Table name={text.throughput} columns={[text.from, text.to, text.sentBar, text.failedBar]} loading={false} empty="">
                {busy.map(({ from, to, sent: sentThen, failed }) => (
                  <Row
                    key={from}
                    cells={[<Time key="from" at={from} />, <Time key="to" at={to} />, count(sentThen), count(failed)]}
                  />
                ))}
              </Table>
            </details>
          </>
        )}
      </div>
    </section>
  )
}

function Key({ kind, name }: { kind: string; name: string }) {
  return (
    <li>
      <span className={styles.swatch} data-state={kind} />
      {name}
    </li>
  )
}

function Bar({ bucket: { sent, failed }, n, scale, rests }: { bucket: Bucket; n: number; scale: number; rests: boolean }) {
  const gap = 0.14
  const piece = (value: number, above: number, state: string) =>
    value > 0 && (
      <rect
        data-state={state}
        x={n + gap / 2}
        width={1 - gap}
        y={height - (value + above) * scale}
        height={Math.max(2, value * scale)}
      />
    )
  return (
    <>
      {rests && <rect data-state="rest" x={n} width={1.02} y={0} height={height} />}
      {piece(sent, 0, 'sent')}
      {piece(failed, sent, 'failed')}
    </>
  )
}

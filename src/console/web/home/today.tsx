// The messages of today, in the reader's time zone: failures first.
import { useState } from 'react'
import { text as failures } from '../failures/words.ts'
import { TodayDocument } from '../generated/home/graphql.ts'
import { useRead } from '../graph/use-read.ts'
import { useRefresh } from '../graph/use-refresh.ts'
import { useSoon } from '../graph/use-soon.ts'
import { pathIn, To } from '../navigation.tsx'
import { shownZone } from '../preferences.ts'
import { momentIn } from '../send/input.ts'
import { useFrames, useWorkspace } from '../shell/workspace-context.ts'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Time } from '../ui/time.tsx'
import { count } from '../words/words.ts'
import styles from './home.module.css'
import { Trend } from './trend.tsx'
import { text as home } from './words.ts'

/** Midnight in the shown zone. */
function startOfToday(): string {
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone: shownZone(), dateStyle: 'short' }).format(new Date())
  return momentIn(shownZone(), `${today}T00:00:00`)
}

/** Unknown if one of them is. */
function sum(a: number | null | undefined, b: number | null | undefined): number | undefined {
  return a == null || b == null ? undefined : a + b
}

export function Today() {
  const { team } = useWorkspace()
  const [since, setSince] = useState(startOfToday)
  // A page that stays open over midnight begins anew.
  useRefresh(true, () => setSince(startOfToday()))
  const { data, error, loading, again } = useRead(TodayDocument, { since })
  const soon = useSoon(again)
  useFrames((events) => {
    if (events.some(({ message }) => message)) soon()
  })
  const read = data?.read.totalCount
  // A message that was read was delivered before, and one that was delivered was sent.
  const delivered = sum(data?.delivered.totalCount, read)
  const figures = [
    [home.failed, data?.failed.totalCount],
    [home.sent, sum(data?.sent.totalCount, delivered)],
    [home.delivered, delivered],
    [home.read, read],
    [home.received, data?.received.totalCount],
  ] as const
  return (
    <section className={parts.stack} aria-label={home.today} aria-busy={loading}>
      <h2>{home.today}</h2>
      <Refusal error={error} />
      <dl className={styles.figures}>
        {figures.map(([name, value]) => (
          <div key={name} className={styles.figure}>
            <dt>{name}</dt>
            <dd>{value == null ? '' : count(value)}</dd>
          </div>
        ))}
      </dl>
      <div className={parts.panel}>
        <div className={parts.panelHead}>
          <h2>{home.failing}</h2>
        </div>
        {data?.failed.nodes.length === 0 && <p className={parts.panelBody}>{home.noneFailed}</p>}
        <ul className={styles.failing}>
          {data?.failed.nodes.map((message) => (
            <li key={message.id} className={styles.failed}>
              <Time at={message.createdAt} />
              <To to={pathIn(team, `messages/${message.id}`)}>{message.to}</To>
              <span>{(failures.byCode[message.errorCode ?? ''] ?? failures.other)[0]}</span>
            </li>
          ))}
        </ul>
        {data && (data.failed.totalCount ?? 0) > data.failed.nodes.length && (
          <p className={parts.panelBody}>
            <To to={pathIn(team, 'messages')} search={{ status: 'failed', from: since }}>
              {home.allFailed(count(data.failed.totalCount ?? 0))}
            </To>
          </p>
        )}
      </div>
      <Trend settled={data !== undefined || error !== undefined} />
    </section>
  )
}

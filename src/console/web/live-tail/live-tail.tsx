// Events as they happen: the last 500, or counts when there are too many to read.
import { useEffect, useRef, useState } from 'react'
import type { EventRowFragment, EventType } from '../generated/graph/graphql.ts'
import { everyType } from '../graph/event-types.ts'
import { pathIn, To, useAddress } from '../navigation.tsx'
import { useFrames, useWorkspace } from '../shell/workspace-context.ts'
import { Choice } from '../ui/field.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Status } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { count, words } from '../words/words.ts'
import styles from './live-tail.module.css'
import { text as tail } from './words.ts'

const mostRows = 500
/** Above so many events a second rows cannot be read, so only counts are shown. */
const mostPerSecond = 200

export function LiveTail() {
  const { paused, setPaused } = useWorkspace()
  const [address, setAddress] = useAddress()
  const [rows, setRows] = useState<EventRowFragment[]>([])
  const waiting = useRef<EventRowFragment[]>([])
  const [waits, setWaits] = useState(0)
  const { rate, add } = useRate()
  const wanted = everyType.find((type) => type === address.event)

  useFrames((events) => {
    add(events.length)
    const fitting = wanted ? events.filter(({ type }) => type === wanted) : events
    if (fitting.length === 0) return
    if (paused) {
      waiting.current = [...waiting.current, ...fitting].slice(-mostRows)
      return setWaits((before) => before + fitting.length)
    }
    setRows((before) => [...fitting.toReversed(), ...before].slice(0, mostRows))
  })
  // Another page must not stay paused.
  useEffect(() => () => setPaused(false), [setPaused])

  /** Lines of other types leave. What was not shown before is not remembered. */
  function choose(type: EventType | undefined): void {
    const fits = (event: EventRowFragment) => !type || event.type === type
    waiting.current = waiting.current.filter(fits)
    setWaits(waiting.current.length)
    setRows((before) => before.filter(fits))
    setAddress({ event: type })
  }

  function resume(): void {
    const missed = waiting.current
    waiting.current = []
    setRows((before) => [...missed.toReversed(), ...before].slice(0, mostRows))
    setWaits(0)
    setPaused(false)
  }

  return (
    <Page
      title={tail.title}
      actions={
        <>
          <span className={parts.hint}>{tail.rate(count(rate))}</span>
          {waits > 0 && <span className={parts.hint}>{tail.waiting(count(waits))}</span>}
          {paused ? (
            <button type="button" className={`${parts.button} ${parts.main}`} onClick={resume}>
              {tail.resume}
            </button>
          ) : (
            <button type="button" className={parts.button} onClick={() => setPaused(true)}>
              {tail.pause}
            </button>
          )}
        </>
      }
    >
      <div className={styles.filters}>
        <Choice
          label={tail.type}
          name="event"
          value={wanted ?? ''}
          onChange={({ target }) => choose(everyType.find((type) => type === target.value))}
        >
          <option value="">{tail.all}</option>
          {everyType.map((type) => (
            <option key={type} value={type}>
              {words.event[type]}
            </option>
          ))}
        </Choice>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <div role="log" aria-label={tail.log} aria-live="off" tabIndex={0} className={`${parts.panel} ${styles.log}`}>
        {rate > mostPerSecond && <p className={parts.empty}>{tail.busy}</p>}
        {rate <= mostPerSecond && rows.map((event) => <Line key={event.id} event={event} />)}
        {rows.length === 0 && <p className={parts.empty}>{wanted ? tail.noneOfType : tail.quiet}</p>}
      </div>
    </Page>
  )
}

function Line({ event: { createdAt, type, message, instance } }: { event: EventRowFragment }) {
  const { team } = useWorkspace()
  return (
    <div className={styles.line}>
      <Time at={createdAt} />
      <span>{words.event[type]}</span>
      <span className={styles.subject}>
        {message && (
          <To to={pathIn(team, `messages/${message.id}`)}>{message.direction === 'inbound' ? message.from : message.to}</To>
        )}
        {!message && instance?.name}
      </span>
      {message && <Status status={message.status} />}
    </div>
  )
}

/** Events of the last second. */
function useRate(): { rate: number; add: (events: number) => void } {
  const seen = useRef(0)
  const [rate, setRate] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => {
      setRate(seen.current)
      seen.current = 0
    }, 1_000)
    return () => clearInterval(timer)
  }, [])
  return {
    rate,
    add(events) {
      seen.current += events
    },
  }
}

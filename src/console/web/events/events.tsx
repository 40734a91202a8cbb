// The log of events, newest first, each with the payload that webhooks and streams received.
import { EventLogDocument, type EventLogQuery } from '../generated/events/graphql.ts'
import { everyType } from '../graph/event-types.ts'
import { useRead } from '../graph/use-read.ts'
import { pathIn, To, useAddress } from '../navigation.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import { CopyButton } from '../ui/copy.tsx'
import { Choice } from '../ui/field.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { words } from '../words/words.ts'
import { useNewEvents } from './use-new-events.ts'
import { text } from './words.ts'

const atOnce = 50

export function Events() {
  const [{ type, before }, setAddress] = useAddress()
  const { team } = useWorkspace()
  const wanted = everyType.find((known) => known === type)
  const { data, error, loading, again } = useRead(EventLogDocument, {
    last: atOnce,
    ...(before && { before }),
    types: wanted ? [wanted] : everyType,
  })
  const { nodes = [], pageInfo } = data?.events ?? {}
  const fresh = useNewEvents(wanted, before ? undefined : nodes.at(-1)?.id)
  function showNew(): void {
    if (before) setAddress({ before: undefined })
    else again()
  }
  return (
    <Page
      title={text.title}
      actions={
        (fresh || before) && (
          <button type="button" className={`${parts.button} ${parts.main}`} onClick={showNew}>
            {fresh ? text.showNew(fresh) : text.newest}
          </button>
        )
      }
    >
      <div className={parts.row}>
        <Choice
          label={text.type}
          name="type"
          value={wanted ?? ''}
          onChange={(event) => setAddress({ type: event.target.value, before: undefined })}
        >
          <option value="">{text.all}</option>
          {everyType.map((each) => (
            <option key={each} value={each}>
              {words.event[each]}
            </option>
          ))}
        </Choice>
      </div>
      <Refusal error={error} />
      <Table
        name={text.title}
        columns={[text.time, text.type, text.about, text.content]}
        loading={loading}
        failed={error !== undefined}
        empty={<p>{wanted ? text.emptyFiltered : text.empty}</p>}
      >
        {nodes.toReversed().map((event) => (
          <Row
            key={event.id}
            cells={[
              <Time key="time" at={event.createdAt} />,
              words.event[event.type],
              <About key="about" {...event} />,
              <Payload key="content" {...event} />,
            ]}
          />
        ))}
      </Table>
      {pageInfo?.hasPreviousPage && (
        <div className={parts.row}>
          <To
            to={pathIn(team, 'events')}
            search={{ ...(wanted && { type: wanted }), before: pageInfo.startCursor ?? '' }}
            className={parts.button}
          >
            {text.older}
          </To>
        </div>
      )}
    </Page>
  )
}

type Logged = EventLogQuery['events']['nodes'][number]

function About({ message, instance, contact, campaign }: Logged) {
  const { team } = useWorkspace()
  if (message) {
    const other = message.direction === 'inbound' ? message.from : message.to
    return <To to={pathIn(team, `messages/${message.id}`)}>{other}</To>
  }
  return <>{campaign?.name ?? contact?.name ?? instance?.name ?? words.none}</>
}

function Payload({ id, payload }: Logged) {
  const json = JSON.stringify(payload, null, 2)
  return (
    <details>
      <summary>{text.show}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <section aria-label={`${text.content} ${id}`} tabIndex={0} className={parts.code}>
        <pre>{json}</pre>
      </section>
      <CopyButton text={json} />
    </details>
  )
}

// The deliveries of an endpoint, newest first, by status.
import { useEffect, useRef } from 'react'
import { type DeliveryStatus, EndpointDeliveriesDocument, RedeliverDocument } from '../generated/webhooks/graphql.ts'
import { change } from '../graph/change.ts'
import { useList } from '../graph/use-list.ts'
import { useRefresh } from '../graph/use-refresh.ts'
import { pathIn, To, useAddress } from '../navigation.tsx'
import { useManages, useWorkspace } from '../shell/workspace-context.ts'
import { More } from '../ui/more.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { StatusChoice } from '../ui/status-choice.tsx'
import { Row, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { text } from './words.ts'

const statuses: readonly DeliveryStatus[] = ['pending', 'retrying', 'delivered', 'failed']

interface DeliveryTableProps {
  webhookId: string
  /** The number of test events that were sent. Another one is shown at once. */
  tests: number
}

export function DeliveryTable({ webhookId, tests }: DeliveryTableProps) {
  const { team, graph } = useWorkspace()
  const manages = useManages()
  const [address, setAddress] = useAddress()
  const status = statuses.find((known) => known === address.status)
  const list = useList(
    EndpointDeliveriesDocument,
    { id: webhookId, first: 50, ...(status && { status }) },
    (data) => data.webhook?.deliveries,
    ({ id }) => id,
  )
  useRefresh(true, list.refresh)
  const shown = useRef(tests)
  useEffect(() => {
    if (shown.current !== tests) list.refresh()
    shown.current = tests
  })
  const redeliver = useTask((id: string) => change(graph, RedeliverDocument, { id }))
  const said = words.message.deliveries.status
  return (
    <div className={parts.stack}>
      <div className={parts.row}>
        <StatusChoice
          label={text.status}
          all={text.all}
          statuses={statuses}
          names={said}
          value={status}
          choose={(status) => setAddress({ status })}
        />
      </div>
      <Refusal error={redeliver.error ?? list.error} />
      <Table
        name={text.deliveries}
        columns={[text.time, text.event, text.status, text.attempts, text.answer, ...(manages ? [text.actions] : [])]}
        loading={list.loading}
        failed={list.error !== undefined}
        empty={<p>{text.noDeliveries}</p>}
      >
        {list.rows.map(({ id, createdAt, event, test, status: state, attempts, responseCode, error }) => (
          <Row
            key={id}
            cells={[
              <To key="time" to={pathIn(team, `webhooks/${webhookId}/deliveries/${id}`)}>
                <Time at={createdAt} />
              </To>,
              `${words.event[event]}${test ? ` (${text.isTest})` : ''}`,
              said[state],
              attempts,
              responseCode ?? error ?? words.none,
              ...(manages
                ? [
                    <button
                      key="redeliver"
                      type="button"
                      className={parts.button}
                      disabled={redeliver.running || state === 'pending'}
                      onClick={() => redeliver.run(id)}
                    >
                      {text.redeliver}
                    </button>,
                  ]
                : []),
            ]}
          />
        ))}
      </Table>
      <More list={list} />
    </div>
  )
}

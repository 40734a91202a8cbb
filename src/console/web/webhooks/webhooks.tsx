// The endpoints that receive the events of the workspace, with their state.
import { useState } from 'react'
import { EndpointsDocument } from '../generated/webhooks/graphql.ts'
import { useRead } from '../graph/use-read.ts'
import { useRefresh } from '../graph/use-refresh.ts'
import { pathIn, To } from '../navigation.tsx'
import { useManages, useWorkspace } from '../shell/workspace-context.ts'
import { AddButton } from '../ui/add-button.tsx'
import { Page } from '../ui/page.tsx'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { words } from '../words/words.ts'
import { EndpointState, SuccessRate } from './endpoint-state.tsx'
import { NewEndpoint } from './new-endpoint.tsx'
import styles from './webhooks.module.css'
import { text } from './words.ts'

export function Webhooks() {
  const { team } = useWorkspace()
  const manages = useManages()
  const { data, error, loading, again } = useRead(EndpointsDocument, {})
  const [creating, setCreating] = useState(false)
  // No event tells that an endpoint fails or was disabled.
  useRefresh(true, again)
  return (
    <Page title={text.title} actions={manages && <AddButton label={text.create} add={() => setCreating(true)} />}>
      <Refusal error={error} />
      <Table
        name={text.endpoints}
        columns={[text.url, text.events, text.state, text.success, text.created]}
        loading={loading}
        failed={error !== undefined}
        empty={
          <>
            <h2>{text.emptyTitle}</h2>
            <p>{text.empty}</p>
          </>
        }
      >
        {(data?.webhooks ?? []).map((endpoint) => (
          <Row
            key={endpoint.id}
            cells={[
              <To key="url" to={pathIn(team, `webhooks/${endpoint.id}`)} className={styles.url}>
                {endpoint.url}
              </To>,
              endpoint.events.map((event) => words.event[event]).join(', '),
              <EndpointState key="state" {...endpoint} />,
              <SuccessRate key="success" {...endpoint} />,
              <Time key="created" at={endpoint.createdAt} />,
            ]}
          />
        ))}
      </Table>
      {creating && <NewEndpoint created={again} close={() => setCreating(false)} />}
    </Page>
  )
}

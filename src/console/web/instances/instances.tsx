// The instances of the workspace: their network, their number and their state.
import { useState } from 'react'
import { InstancesDocument, InstancesNowDocument } from '../generated/instances/graphql.ts'
import { usePoll } from '../graph/use-poll.ts'
import { useRead } from '../graph/use-read.ts'
import { pathIn, To } from '../navigation.tsx'
import { useFrames, useManages, useWorkspace } from '../shell/workspace-context.ts'
import { AddButton } from '../ui/add-button.tsx'
import { Page } from '../ui/page.tsx'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { words } from '../words/words.ts'
import { NewInstance } from './new-instance.tsx'
import { text } from './words.ts'

export function Instances() {
  const { team } = useWorkspace()
  const manages = useManages()
  const { data, error, loading, again } = useRead(InstancesDocument, {})
  const rows = data?.instances ?? []
  const [creating, setCreating] = useState(false)
  useFrames((events) => {
    if (events.some(({ type }) => type.startsWith('instance_'))) again()
  })
  // No event tells that an instance is made, renamed, paired or deleted.
  usePoll(InstancesNowDocument, {}, (now) => {
    // The cache does not have the safety of a new one.
    if (!now || now.instances.some(({ id }) => !rows.some((row) => row.id === id))) again()
  })
  return (
    <Page title={text.title} actions={manages && <AddButton label={text.create} add={() => setCreating(true)} />}>
      <Refusal error={error} />
      <Table
        name={text.title}
        columns={[words.fields.name, text.network, text.number, text.status, text.safety]}
        loading={loading}
        failed={error !== undefined}
        empty={
          <>
            <h2>{text.emptyTitle}</h2>
            <p>{text.empty}</p>
          </>
        }
      >
        {rows.map(({ id, name, provider, waNumber, status, health }) => (
          <Row
            key={id}
            cells={[
              <To key="name" to={pathIn(team, `instances/${id}`)}>
                {name}
              </To>,
              text.networks[provider],
              waNumber ?? words.none,
              words.instanceStatus[status],
              words.safety.of(words.safety.states[health.safetyState], health.safetyScore),
            ]}
          />
        ))}
      </Table>
      {creating && <NewInstance created={again} close={() => setCreating(false)} />}
    </Page>
  )
}

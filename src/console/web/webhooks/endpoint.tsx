// One endpoint: its state, its deliveries, and code that verifies them.
import { useState } from 'react'
import {
  ChangeEndpointDocument,
  DeleteEndpointDocument,
  EndpointDocument,
  RedeliverFailedDocument,
  RotateSecretDocument,
  TestEndpointDocument,
} from '../generated/webhooks/graphql.ts'
import { change } from '../graph/change.ts'
import { ask } from '../graph/request.ts'
import { useRead } from '../graph/use-read.ts'
import { useRefresh } from '../graph/use-refresh.ts'
import { pathIn, useGo, usePart } from '../navigation.tsx'
import { NotFound } from '../shell/not-found.tsx'
import { useManages, useWorkspace } from '../shell/workspace-context.ts'
import { Code } from '../ui/code.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { DeliveryTable } from './delivery-table.tsx'
import { EditEndpoint } from './edit-endpoint.tsx'
import { EndpointFacts } from './endpoint-facts.tsx'
import { SecretDialog } from './new-endpoint.tsx'
import { receiverCode } from './receiver-code.ts'
import { text } from './words.ts'

type Open = 'edit' | 'rotate' | 'delete' | null

export function Endpoint() {
  const id = usePart('webhookId')
  const { team, graph } = useWorkspace()
  const manages = useManages()
  const go = useGo()
  const { data, error, loading, again } = useRead(EndpointDocument, { id })
  const [open, setOpen] = useState<Open>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const [tests, setTests] = useState(0)
  const test = useTask(async () => {
    await change(graph, TestEndpointDocument, { id })
    setTests(tests + 1)
  })
  const redeliver = useTask(async () => {
    await change(graph, RedeliverFailedDocument, { id })
    again()
  })
  const enabled = useTask((enabled: boolean) => change(graph, ChangeEndpointDocument, { id, input: { enabled } }))
  const endpoint = data?.webhook
  const runs = endpoint?.redelivery?.status === 'pending' || endpoint?.redelivery?.status === 'processing'
  useRefresh(endpoint !== undefined, again)
  if (!endpoint) {
    if (!loading && (error?.code === 'NOT_FOUND' || error?.code === 'VALIDATION_ERROR')) return <NotFound />
    return <Page title={text.endpoint}>{error ? <Refusal error={error} /> : words.loading}</Page>
  }
  const close = () => setOpen(null)
  return (
    <Page
      title={endpoint.url}
      actions={
        manages && (
          <>
            <button type="button" className={parts.button} disabled={test.running} onClick={() => test.run()}>
              {text.test}
            </button>
            <button type="button" className={parts.button} disabled={redeliver.running || runs} onClick={() => redeliver.run()}>
              {text.redeliverFailed}
            </button>
            <button type="button" className={parts.button} onClick={() => setOpen('edit')}>
              {words.actions.edit}
            </button>
            <button type="button" className={parts.button} onClick={() => setOpen('rotate')}>
              {text.rotate}
            </button>
            <button
              type="button"
              className={parts.button}
              disabled={enabled.running}
              onClick={() => enabled.run(endpoint.disabledAt !== null)}
            >
              {endpoint.disabledAt ? text.enable : text.disable}
            </button>
            <button type="button" className={`${parts.button} ${parts.danger}`} onClick={() => setOpen('delete')}>
              {words.actions.delete}
            </button>
          </>
        )
      }
    >
      <Refusal error={test.error ?? redeliver.error ?? enabled.error ?? error} />
      <EndpointFacts endpoint={endpoint} redelivery={endpoint.redelivery ?? null} />
      <Tabs
        name={text.endpoint}
        tabs={[
          { title: text.deliveries, panel: <DeliveryTable webhookId={id} tests={tests} /> },
          {
            title: text.verify,
            panel: (
              <div className={parts.stack}>
                <p>{text.verifyNote}</p>
                <Code name={text.verify} text={receiverCode} />
              </div>
            ),
          },
        ]}
      />
      {open === 'edit' && <EditEndpoint endpoint={endpoint} close={close} />}
      {open === 'rotate' && (
        <Confirm
          title={text.rotate}
          action={text.rotate}
          once
          act={async () => setSecret((await ask(team, RotateSecretDocument, { id })).rotateWebhookSecret.secret ?? '')}
          close={close}
        >
          {text.rotateNote}
        </Confirm>
      )}
      {open === 'delete' && (
        <Confirm
          title={text.deleteTitle}
          action={words.actions.delete}
          act={async () => {
            await ask(team, DeleteEndpointDocument, { id })
            go(pathIn(team, 'webhooks'))
          }}
          close={close}
        >
          {text.deleteNote}
        </Confirm>
      )}
      {secret !== null && <SecretDialog secret={secret} close={() => setSecret(null)} />}
    </Page>
  )
}

// The dialog that creates an endpoint and shows its signing secret once.
import { useState } from 'react'
import { CreateEndpointDocument } from '../generated/webhooks/graphql.ts'
import { ask } from '../graph/request.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { CreateForm } from '../ui/create-form.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { Secret } from '../ui/secret.tsx'
import { EventBoxes, eventsIn } from './event-boxes.tsx'
import { text } from './words.ts'

const atFirst = ['message_sent', 'message_delivered', 'message_read', 'message_failed', 'message_received'] as const

export function NewEndpoint({ created, close }: { created: () => void; close: () => void }) {
  const { team } = useWorkspace()
  const [secret, setSecret] = useState<string | null>(null)
  const [running, setRunning] = useState(false)
  async function create(fields: FormData, idempotencyKey: string): Promise<void> {
    const input = { url: String(fields.get('url')), events: eventsIn(fields), idempotencyKey }
    const { createWebhook } = await ask(team, CreateEndpointDocument, { input })
    setSecret(createWebhook.secret ?? '')
    created()
  }
  if (secret !== null) return <SecretDialog secret={secret} close={close} />
  return (
    <Dialog title={text.create} close={close} held={running}>
      <CreateForm submit={text.submit} create={create} running={setRunning}>
        {(issues) => (
          <>
            <TextField label={text.url} name="url" type="url" autoComplete="off" hint={text.urlHint} issues={issues} />
            <EventBoxes chosen={atFirst} issues={issues} />
          </>
        )}
      </CreateForm>
    </Dialog>
  )
}

export function SecretDialog({ secret, close }: { secret: string; close: () => void }) {
  return (
    <Dialog title={text.secret} close={close}>
      <div className={parts.stack}>
        <Secret label={text.secret} hint={text.secretHint} value={secret} />
        <div className={parts.row}>
          <button type="button" className={parts.button} onClick={close}>
            {text.done}
          </button>
        </div>
      </div>
    </Dialog>
  )
}

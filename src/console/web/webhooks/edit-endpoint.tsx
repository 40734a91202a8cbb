// The dialog that changes the address and the events of an endpoint.
import { ChangeEndpointDocument, type EndpointRowFragment } from '../generated/webhooks/graphql.ts'
import { change } from '../graph/change.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { EventBoxes, eventsIn } from './event-boxes.tsx'
import { text } from './words.ts'

export function EditEndpoint({ endpoint, close }: { endpoint: EndpointRowFragment; close: () => void }) {
  const { graph } = useWorkspace()
  const { id, url, events } = endpoint
  const task = useTask(async (fields: FormData) => {
    const input = { url: String(fields.get('url')), events: eventsIn(fields) }
    await change(graph, ChangeEndpointDocument, { id, input })
    close()
  })
  return (
    <Dialog title={text.edit} close={close}>
      <form className={parts.stack} noValidate onSubmit={submits(task.run)}>
        <TextField label={text.url} name="url" type="url" defaultValue={url} hint={text.urlHint} issues={task.issues} />
        <EventBoxes chosen={events} issues={task.issues} />
        <Refusal error={task.error} />
        <div className={parts.row}>
          <button type="submit" className={`${parts.button} ${parts.main}`} disabled={task.running}>
            {words.actions.save}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

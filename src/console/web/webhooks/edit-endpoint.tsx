// The dialog that changes the address and the events of an endpoint.
import { ChangeEndpointDocument, type EndpointRowFragment } from '../generated/webhooks/graphql.ts'
import { change } from '../graph/change.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { EditDialog } from '../ui/edit-dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { EventBoxes, eventsIn } from './event-boxes.tsx'
import { text } from './words.ts'

export function EditEndpoint({ endpoint, close }: { endpoint: EndpointRowFragment; close: () => void }) {
  const { graph } = useWorkspace()
  const { id, url, events } = endpoint
  const save = (fields: FormData) =>
    change(graph, ChangeEndpointDocument, { id, input: { url: String(fields.get('url')), events: eventsIn(fields) } })
  return (
    <EditDialog title={text.edit} close={close} save={save}>
      {(issues) => (
        <>
          <TextField label={text.url} name="url" type="url" defaultValue={url} hint={text.urlHint} issues={issues} />
          <EventBoxes chosen={events} issues={issues} />
        </>
      )}
    </EditDialog>
  )
}

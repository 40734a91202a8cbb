// The dialog that creates a contact.
import { CreateContactDocument } from '../generated/contacts/graphql.ts'
import { change } from '../graph/change.ts'
import { pathIn, useGo } from '../navigation.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import { CreateForm } from '../ui/create-form.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { ContactFields, contactIn } from './contact-fields.tsx'
import { text } from './words.ts'

export function NewContact({ close }: { close: () => void }) {
  const { team, graph } = useWorkspace()
  const go = useGo()
  async function create(fields: FormData, idempotencyKey: string): Promise<void> {
    const input = { ...contactIn(fields), idempotencyKey }
    const { createContact } = await change(graph, CreateContactDocument, { input })
    go(pathIn(team, `contacts/${createContact.id}`))
  }
  return (
    <Dialog title={text.create} close={close}>
      <CreateForm submit={text.submit} create={create}>
        {(issues) => <ContactFields issues={issues} />}
      </CreateForm>
    </Dialog>
  )
}

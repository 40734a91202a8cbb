// The dialog that creates a contact.
import { useRef } from 'react'
import { CreateContactDocument } from '../generated/contacts/graphql.ts'
import { change, newIdempotencyKey } from '../graph/change.ts'
import { pathIn, useGo } from '../navigation.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Dialog } from '../ui/dialog.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { ContactFields, contactIn } from './contact-fields.tsx'
import { text } from './words.ts'

export function NewContact({ close }: { close: () => void }) {
  const { team, graph } = useWorkspace()
  const go = useGo()
  const idempotencyKey = useRef(newIdempotencyKey())
  const task = useTask(async (fields: FormData) => {
    const input = { ...contactIn(fields), idempotencyKey: idempotencyKey.current }
    const { createContact } = await change(graph, CreateContactDocument, { input })
    go(pathIn(team, `contacts/${createContact.id}`))
  })
  return (
    <Dialog title={text.create} close={close}>
      <form
        className={parts.stack}
        noValidate
        onSubmit={submits(task.run)}
        onChange={() => {
          idempotencyKey.current = newIdempotencyKey()
        }}
      >
        <ContactFields issues={task.issues} />
        <Refusal error={task.error} />
        <div className={parts.row}>
          <button type="submit" className={`${parts.button} ${parts.main}`} disabled={task.running}>
            {text.submit}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

// A dialog with a form: it saves, closes, and keeps what the gateway refuses.
import type { ReactNode } from 'react'
import type { Issue } from '../session/auth-call.ts'
import { words } from '../words/words.ts'
import { Dialog } from './dialog.tsx'
import parts from './parts.module.css'
import { Refusal } from './refusal.tsx'
import { useShown } from './use-shown.ts'
import { submits, useTask } from './use-task.ts'

interface EditDialogProps {
  title: string
  /** The label of the button. */
  action?: string
  close: () => void
  save: (fields: FormData) => Promise<unknown>
  /** Renders the fields, with the words of the gateway about single ones. */
  children: (issues: readonly Issue[]) => ReactNode
}

export function EditDialog({ title, action = words.actions.save, close, save, children }: EditDialogProps) {
  const shown = useShown()
  const task = useTask(async (fields: FormData) => {
    await save(fields)
    // Another dialog may be open by then.
    if (shown.current) close()
  })
  return (
    <Dialog title={title} close={close}>
      <form className={parts.stack} noValidate onSubmit={submits(task.run)}>
        {children(task.issues)}
        <Refusal error={task.error} />
        <div className={parts.row}>
          <button type="submit" className={`${parts.button} ${parts.main}`} disabled={task.running}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

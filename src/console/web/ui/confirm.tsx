// Asks before something that cannot be undone.
import type { ReactNode } from 'react'
import { words } from '../words/words.ts'
import { Dialog } from './dialog.tsx'
import parts from './parts.module.css'
import { Refusal } from './refusal.tsx'
import { useShown } from './use-shown.ts'
import { useTask } from './use-task.ts'

interface ConfirmProps {
  title: string
  /** The consequence, in a sentence. */
  children: ReactNode
  /** The name of the button that does it. */
  action: string
  /** The name of the button that does not. */
  keep?: string
  /** Does it. The dialog closes when it has succeeded, and says why when it was refused. */
  act: () => Promise<unknown>
  /** True if the answer is shown only once: the dialog stays until it has come. */
  once?: boolean
  close: () => void
}

export function Confirm({ title, children, action, keep = words.actions.keep, act, once = false, close }: ConfirmProps) {
  const shown = useShown()
  const task = useTask(async () => {
    await act()
    // Another dialog may be open by then.
    if (shown.current) close()
  })
  const held = once && task.running
  return (
    <Dialog title={title} close={close} held={held}>
      <div className={parts.stack}>
        <div>{children}</div>
        <Refusal error={task.error} />
        <div className={parts.row}>
          <button type="button" className={`${parts.button} ${parts.danger}`} disabled={task.running} onClick={() => task.run()}>
            {action}
          </button>
          <button type="button" className={parts.button} disabled={held} onClick={close}>
            {keep}
          </button>
        </div>
      </div>
    </Dialog>
  )
}

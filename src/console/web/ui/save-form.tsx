// A form in a panel that saves changes, says so until the next change, and keeps what the gateway refuses.
import { type ReactNode, useRef, useState } from 'react'
import type { Issue } from '../session/auth-call.ts'
import { words } from '../words/words.ts'
import parts from './parts.module.css'
import { Refusal } from './refusal.tsx'
import { submits, useTask } from './use-task.ts'

interface SaveFormProps {
  save: (fields: FormData) => Promise<unknown>
  /** True if its button is the main one of the page. */
  isMain?: boolean
  /** The names of the fields that show their faults; see {@link Refusal}. */
  fields?: readonly string[]
  /** Renders the fields, with the words of the gateway about single ones. */
  children: (issues: readonly Issue[]) => ReactNode
}

export function SaveForm({ save, isMain = false, fields, children }: SaveFormProps) {
  const [saved, setSaved] = useState(false)
  const changes = useRef(0)
  const task = useTask(async (form: FormData) => {
    setSaved(false)
    const before = changes.current
    await save(form)
    // Changes that were made meanwhile are not saved.
    setSaved(changes.current === before)
  })
  function changed(): void {
    changes.current++
    setSaved(false)
  }
  return (
    <form className={`${parts.panelBody} ${parts.stack}`} noValidate onSubmit={submits(task.run)} onChange={changed}>
      {children(task.issues)}
      <Refusal error={task.error} fields={fields} />
      <div className={parts.row}>
        <button type="submit" className={isMain ? `${parts.button} ${parts.main}` : parts.button} disabled={task.running}>
          {words.actions.save}
        </button>
        <span role="status" className={parts.hint}>
          {saved && words.actions.saved}
        </span>
      </div>
    </form>
  )
}

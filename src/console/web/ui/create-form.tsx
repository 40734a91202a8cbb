// A form that creates a record once, however often it is sent, and keeps what the gateway refuses.
import { type ReactNode, useRef } from 'react'
import { newIdempotencyKey } from '../graph/change.ts'
import type { Issue } from '../session/auth-call.ts'
import parts from './parts.module.css'
import { Refusal } from './refusal.tsx'
import { submits, useTask } from './use-task.ts'

interface CreateFormProps {
  /** The label of the button. */
  submit: string
  create: (fields: FormData, idempotencyKey: string) => Promise<unknown>
  /** Called when a request begins and when it ends. */
  running?: (now: boolean) => void
  /** Called after each change of a field. */
  changed?: (form: HTMLFormElement) => void
  /** The names of the fields that show their faults; see {@link Refusal}. */
  fields?: readonly string[]
  /** Renders the fields, with the words of the gateway about single ones. */
  children: (issues: readonly Issue[]) => ReactNode
}

export function CreateForm({ submit, create, running, changed, fields, children }: CreateFormProps) {
  // The key stays the same until a field changes.
  const idempotencyKey = useRef(newIdempotencyKey())
  const task = useTask(async (form: FormData) => {
    running?.(true)
    try {
      await create(form, idempotencyKey.current)
    } finally {
      running?.(false)
    }
  })
  return (
    <form
      className={parts.stack}
      noValidate
      onSubmit={submits(task.run)}
      onChange={(event) => {
        idempotencyKey.current = newIdempotencyKey()
        changed?.(event.currentTarget)
      }}
    >
      {children(task.issues)}
      <Refusal error={task.error} fields={fields} />
      <div className={parts.row}>
        <button type="submit" className={`${parts.button} ${parts.main}`} disabled={task.running}>
          {submit}
        </button>
      </div>
    </form>
  )
}

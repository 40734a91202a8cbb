// A form in a panel that saves changes, says so until the next change, and keeps what the gateway refuses.
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react'
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
  const form = useRef<HTMLFormElement>(null)
  useFollowing(form)
  const [saved, setSaved] = useState(false)
  const changes = useRef(0)
  const task = useTask(async (fields: FormData) => {
    setSaved(false)
    const before = changes.current
    await save(fields)
    // Changes that were made meanwhile are not saved.
    setSaved(changes.current === before)
  })
  function changed(): void {
    changes.current++
    setSaved(false)
  }
  return (
    <form ref={form} className={`${parts.panelBody} ${parts.stack}`} noValidate onSubmit={submits(task.run)} onChange={changed}>
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

/**
 * Fields that nobody has changed follow the record: the answer of the gateway comes after what the cache had, and somebody else may change
 * it. React changes their default values only.
 */
function useFollowing(form: RefObject<HTMLFormElement | null>): void {
  const defaults = useRef(new WeakMap<Element, string>())
  useLayoutEffect(() => {
    for (const control of form.current?.elements ?? []) {
      if (!(control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement)) continue
      const { defaultValue } = control
      const before = defaults.current.get(control)
      defaults.current.set(control, defaultValue)
      if (before !== undefined && before !== defaultValue && control.value === before) control.value = defaultValue
    }
  })
}

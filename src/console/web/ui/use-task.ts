// Runs one action of a form or button at a time, and keeps its refusal.
import { type FormEvent, useRef, useState } from 'react'
import { ApiError, type Issue } from '../session/auth-call.ts'

export interface Task<Argument> {
  run: (argument: Argument) => Promise<void>
  running: boolean
  error: unknown
  /** The server's words about single fields. */
  issues: readonly Issue[]
}

export function useTask<Argument = void>(action: (argument: Argument) => Promise<unknown>): Task<Argument> {
  const [running, setRunning] = useState(false)
  const [error, setError] = useState<unknown>(null)
  // A second click may come before the button is disabled.
  const busy = useRef(false)
  async function run(argument: Argument): Promise<void> {
    if (busy.current) return
    busy.current = true
    setRunning(true)
    setError(null)
    try {
      await action(argument)
    } catch (caught) {
      setError(caught)
    } finally {
      busy.current = false
      setRunning(false)
    }
  }
  return { run, running, error, issues: error instanceof ApiError ? error.issues : [] }
}

/** Hands over the fields of a form. React's own form actions would empty it, also when it was refused. */
export function submits(run: (fields: FormData) => unknown): (event: FormEvent<HTMLFormElement>) => void {
  return (event) => {
    event.preventDefault()
    run(new FormData(event.currentTarget))
  }
}

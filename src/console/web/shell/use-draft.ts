// The draft of a form, of one person in one workspace at one address.
import { useEffect, useMemo, useState } from 'react'
import { useAddress } from '../navigation.tsx'
import { type Draft, openDraft } from '../session/drafts.ts'
import { useWorkspace } from './workspace-context.ts'

export interface UsedDraft<More = undefined> {
  draft: Draft<More>
  /** Empties the form. */
  clear: () => void
}

/** The form is rendered with `key`, and fills itself with what the draft says. */
export function useDraft<More = undefined>(form: string): UsedDraft<More> & { key: string } {
  const { me, team } = useWorkspace()
  // An address may fill the form in, as that of a contact does.
  const [address] = useAddress()
  const [turn, setTurn] = useState(0)
  const of = JSON.stringify([me.id, team, form, address])
  const key = `${of} ${turn}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: a form that was cleared has another draft.
  const draft = useMemo(() => openDraft<More>(of), [key])
  function clear(): void {
    draft.forget()
    setTurn(turn + 1)
  }
  // The button that cleared the form is gone.
  useEffect(() => {
    if (turn > 0) document.querySelector<HTMLElement>('main form :is(input, select, textarea)')?.focus()
  }, [turn])
  return { key, draft, clear }
}

// The draft of a form, of one person in one workspace at one address.
import { useEffect, useMemo, useState } from 'react'
import { useAddress } from '../navigation.tsx'
import { type Draft, openDraft } from '../session/drafts.ts'
import { useWorkspace } from './workspace-context.ts'

/** The draft, and a function that begins anew. The form is rendered with the key of the draft, and fills itself with what it said. */
export function useDraft<More = undefined>(form: string): [Draft<More>, () => void] {
  const { me, team } = useWorkspace()
  // An address may fill the form in, as that of a contact does.
  const [address] = useAddress()
  const [turn, setTurn] = useState(0)
  const of = JSON.stringify([me.id, team, form, address])
  const draft = useMemo(() => ({ ...openDraft<More>(of), key: `${of} ${turn}` }), [of, turn])
  function clear(): void {
    draft.forget()
    setTurn(turn + 1)
  }
  // The button that cleared the form is gone.
  useEffect(() => {
    if (turn > 0) document.querySelector<HTMLElement>('main form :is(input, select, textarea)')?.focus()
  }, [turn])
  return [draft, clear]
}

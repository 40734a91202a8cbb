// Finds pages and actions by their names, and records by a pasted id or number, or a part of a name. It loads when it is first needed.
import { type KeyboardEvent, useEffect, useState } from 'react'
import { pathIn, useGo } from '../navigation.tsx'
import { signOut } from '../session/session.ts'
import { mainPages } from '../shell/main-pages.ts'
import { useManages, useWorkspace } from '../shell/workspace-context.ts'
import { Dialog } from '../ui/dialog.tsx'
import parts from '../ui/parts.module.css'
import { words } from '../words/words.ts'
import styles from './find.module.css'
import { useRecords } from './use-records.ts'
import { text as find } from './words.ts'

interface Target {
  id: string
  name: string
  act: () => void
}

const aNumber = /^\+?\d{8,15}$/

export function Find({ close }: { close: () => void }) {
  const { me, team, teams } = useWorkspace()
  const manages = useManages()
  const go = useGo()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  // Enter was pressed before the answer for what was pasted came.
  const [entered, setEntered] = useState(false)
  const asked = text.trim()
  const { records, looking } = useRecords(asked)
  const lead = (id: string, name: string, path: string, search?: Record<string, string>) => {
    return { id, name, act: () => go(path, search) }
  }
  const all: Target[] = [
    ...mainPages(team, manages).map(({ name, page }) => lead(page || 'home', name, pathIn(team, page))),
    lead('account', words.pages.account, '/account'),
    ...(me.operator ? [lead('operator', words.pages.operator, '/operator')] : []),
    lead('me', words.shell.personal, pathIn(null)),
    ...teams.map(({ id, name }) => lead(id, name, pathIn(id))),
    { id: 'sign-out', name: words.shell.signOut, act: () => void signOut() },
  ]
  const number = aNumber.test(asked) ? `+${asked.replace('+', '')}` : null
  const found = [
    ...all.filter(({ name }) => name.toLowerCase().includes(asked.toLowerCase())),
    ...records.map(({ id, name, page }) => lead(id, name, pathIn(team, page))),
    ...(number ? [lead('number', `${words.nav.messages} ${number}`, pathIn(team, 'messages'), { number })] : []),
  ]

  const marked = found[at] && `found-${at}`
  useEffect(() => {
    if (marked) document.getElementById(marked)?.scrollIntoView({ block: 'nearest' })
  }, [marked])

  function take(target: Target | undefined): void {
    if (!target) return
    close()
    target.act()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the answer decides, whichever functions this rendering has.
  useEffect(() => {
    if (entered && !looking) take(found[0])
  }, [entered, looking])

  function move(event: KeyboardEvent): void {
    // This key is one of an input method.
    if (event.nativeEvent.isComposing) return
    const step = { ArrowDown: 1, ArrowUp: found.length - 1 }[event.key]
    if (step !== undefined && found.length > 0) {
      event.preventDefault()
      setAt((now) => (now + step) % found.length)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      if (found[at]) take(found[at])
      else if (looking) setEntered(true)
    }
  }

  return (
    <Dialog title={words.find.name} close={close} bare>
      <input
        className={parts.input}
        type="text"
        aria-controls="found"
        aria-activedescendant={marked}
        aria-label={words.find.name}
        placeholder={find.placeholder}
        value={text}
        autoComplete="off"
        spellCheck={false}
        autoFocus
        onKeyDown={move}
        onChange={(event) => {
          setText(event.target.value)
          setAt(0)
          setEntered(false)
        }}
      />
      <div id="found" role="listbox" tabIndex={0} aria-label={words.find.name} className={styles.found}>
        {found.map((target, n) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the list are those of the textbox.
          <div
            key={target.id}
            id={`found-${n}`}
            role="option"
            tabIndex={-1}
            aria-selected={n === at}
            className={styles.target}
            onClick={() => take(target)}
          >
            {target.name}
          </div>
        ))}
      </div>
      <p role="status" className={parts.hint}>
        {looking ? find.looking : found.length === 0 && find.nothing}
      </p>
    </Dialog>
  )
}

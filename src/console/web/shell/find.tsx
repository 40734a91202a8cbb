// Finds pages and actions by their names, and leads to a message by its pasted id.
import { type KeyboardEvent, useState } from 'react'
import { pathIn, useGo } from '../navigation.tsx'
import { signOut } from '../session/session.ts'
import { Dialog } from '../ui/dialog.tsx'
import parts from '../ui/parts.module.css'
import { words } from '../words/words.ts'
import styles from './find.module.css'
import { mainPages } from './main-pages.ts'
import { useWorkspace } from './workspace-context.ts'

interface Target {
  name: string
  act: () => void
}

const anId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const aNumber = /^\+?\d{8,15}$/

export function Find({ close }: { close: () => void }) {
  const { team, teams } = useWorkspace()
  const go = useGo()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const lead = (name: string, path: string, search?: Record<string, string>) => ({ name, act: () => go(path, search) })
  const asked = text.trim()
  const all: Target[] = [
    ...mainPages(team).map(({ name, page }) => lead(name, pathIn(team, page))),
    lead(words.pages.account, '/account'),
    lead(words.shell.personal, pathIn(null)),
    ...teams.map(({ id, name }) => lead(name, pathIn(id))),
    { name: words.shell.signOut, act: () => void signOut() },
  ]
  const found = all.filter(({ name }) => name.toLowerCase().includes(asked.toLowerCase()))
  if (anId.test(asked)) found.unshift(lead(`${words.pages.message} ${asked}`, pathIn(team, `messages/${asked}`)))
  if (aNumber.test(asked)) {
    const number = asked.startsWith('+') ? asked : `+${asked}`
    found.unshift(lead(`${words.nav.messages} ${number}`, pathIn(team, 'messages'), { number }))
  }

  function move(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: found.length - 1 }[event.key]
    if (step !== undefined && found.length > 0) {
      event.preventDefault()
      setAt((now) => (now + step) % found.length)
    } else if (event.key === 'Enter' && found[at]) {
      event.preventDefault()
      close()
      found[at].act()
    }
  }

  return (
    <Dialog title={words.find.name} close={close} bare>
      <input
        className={parts.input}
        type="text"
        aria-controls="found"
        aria-activedescendant={found[at] && `found-${at}`}
        aria-label={words.find.name}
        placeholder={words.find.placeholder}
        value={text}
        autoComplete="off"
        spellCheck={false}
        autoFocus
        onKeyDown={move}
        onChange={(event) => {
          setText(event.target.value)
          setAt(0)
        }}
      />
      <div id="found" role="listbox" tabIndex={0} aria-label={words.find.name} className={styles.found}>
        {found.map(({ name, act }, n) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the list are those of the textbox.
          <div
            key={name}
            id={`found-${n}`}
            role="option"
            tabIndex={-1}
            aria-selected={n === at}
            className={styles.target}
            onClick={() => {
              close()
              act()
            }}
          >
            {name}
          </div>
        ))}
      </div>
      {found.length === 0 && <p className={parts.hint}>{words.find.nothing}</p>}
    </Dialog>
  )
}

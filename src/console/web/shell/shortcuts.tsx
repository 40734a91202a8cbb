// The list of keys.
import { Dialog } from '../ui/dialog.tsx'
import parts from '../ui/parts.module.css'
import { words } from '../words/words.ts'
import { mainPages } from './main-pages.ts'
import { useManages, useWorkspace } from './workspace-context.ts'

export function Shortcuts({ close }: { close: () => void }) {
  const { team } = useWorkspace()
  const moves = mainPages(team, useManages()).map(({ key, name }) => [`g ${key}`, words.shell.goTo(name)] as const)
  const keys = [...words.shell.shortcutList, ...moves]
  return (
    <Dialog title={words.shell.shortcuts} close={close}>
      <dl className={parts.details}>
        {keys.map(([key, meaning]) => (
          <div key={key} style={{ display: 'contents' }}>
            <dt>
              <kbd className={parts.kbd}>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

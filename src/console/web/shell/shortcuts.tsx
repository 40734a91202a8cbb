// The list of keys.
import { Dialog } from '../ui/dialog.tsx'
import parts from '../ui/parts.module.css'
import { words } from '../words/words.ts'

export function Shortcuts({ close }: { close: () => void }) {
  return (
    <Dialog title={words.shell.shortcuts} close={close}>
      <dl className={parts.details}>
        {words.shell.shortcutList.map(([key, meaning]) => (
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

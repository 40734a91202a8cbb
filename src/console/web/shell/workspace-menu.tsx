// Switches between one's own workspace and those of teams. The workspace is in the address and nowhere else.
import { ChevronsUpDown, Plus } from 'lucide-react'
import { useRef, useState } from 'react'
import { CreateTeamDocument } from '../generated/graph/graphql.ts'
import { newIdempotencyKey } from '../graph/change.ts'
import { ask } from '../graph/request.ts'
import { pathIn, To, useGo } from '../navigation.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Menu, menuItem } from '../ui/menu.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { useWorkspace } from './workspace-context.ts'
import styles from './workspace-menu.module.css'

export function WorkspaceMenu() {
  const { team, teams } = useWorkspace()
  const [creating, setCreating] = useState(false)
  const name = teams.find(({ id }) => id === team)?.name ?? words.shell.personal
  return (
    <>
      <Menu
        name={words.shell.workspace}
        face={
          <>
            <span className={styles.name}>{name}</span>
            <ChevronsUpDown size={14} aria-hidden />
          </>
        }
      >
        <To to={pathIn(null)} role="menuitem" className={menuItem}>
          {words.shell.personal}
        </To>
        {teams.map(({ id, name: title }) => (
          <To key={id} to={pathIn(id)} role="menuitem" className={menuItem}>
            {title}
          </To>
        ))}
        <button type="button" role="menuitem" className={menuItem} onClick={() => setCreating(true)}>
          <Plus size={15} aria-hidden />
          {words.shell.newTeam}
        </button>
      </Menu>
      {creating && <NewTeam close={() => setCreating(false)} />}
    </>
  )
}

function NewTeam({ close }: { close: () => void }) {
  const go = useGo()
  // The key stays the same until the name changes.
  const idempotencyKey = useRef(newIdempotencyKey())
  const task = useTask(async (form: FormData) => {
    const input = { name: String(form.get('name')), idempotencyKey: idempotencyKey.current }
    const { createTeam } = await ask(null, CreateTeamDocument, { input })
    go(pathIn(createTeam.id))
  })
  return (
    <Dialog title={words.shell.newTeam} close={close}>
      <form
        className={parts.stack}
        onSubmit={submits(task.run)}
        onChange={() => {
          idempotencyKey.current = newIdempotencyKey()
        }}
      >
        <TextField label={words.shell.teamName} name="name" required maxLength={100} issues={task.issues} autoFocus />
        <Refusal error={task.error} />
        <div className={parts.row}>
          <button type="submit" className={`${parts.button} ${parts.main}`} disabled={task.running}>
            {words.shell.createTeam}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

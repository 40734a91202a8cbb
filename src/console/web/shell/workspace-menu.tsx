// Switches between one's own workspace and those of teams. The workspace is in the address and nowhere else.
import { ChevronsUpDown, Plus } from 'lucide-react'
import { useState } from 'react'
import { CreateTeamDocument } from '../generated/graph/graphql.ts'
import { ask } from '../graph/request.ts'
import { pathIn, To, useGo } from '../navigation.tsx'
import { CreateForm } from '../ui/create-form.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Menu, menuItem } from '../ui/menu.tsx'
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
  async function create(form: FormData, idempotencyKey: string): Promise<void> {
    const { createTeam } = await ask(null, CreateTeamDocument, { input: { name: String(form.get('name')), idempotencyKey } })
    go(pathIn(createTeam.id))
  }
  return (
    <Dialog title={words.shell.newTeam} close={close}>
      <CreateForm submit={words.shell.createTeam} create={create}>
        {(issues) => <TextField label={words.shell.teamName} name="name" maxLength={100} issues={issues} />}
      </CreateForm>
    </Dialog>
  )
}

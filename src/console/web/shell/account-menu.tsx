// The menu of the person who is signed in.
import { CircleUser } from 'lucide-react'
import { To } from '../navigation.tsx'
import { signOut } from '../session/session.ts'
import { Menu, menuItem } from '../ui/menu.tsx'
import parts from '../ui/parts.module.css'
import { words } from '../words/words.ts'
import { useWorkspace } from './workspace-context.ts'

export function AccountMenu() {
  const { me } = useWorkspace()
  return (
    <Menu name={words.shell.accountMenu} face={<CircleUser size={18} aria-hidden />} side="end">
      <div role="presentation" className={`${parts.hint} ${menuItem}`}>
        {me.email}
      </div>
      <To to="/account" role="menuitem" className={menuItem}>
        {words.pages.account}
      </To>
      {me.operator && (
        <To to="/operator" role="menuitem" className={menuItem}>
          {words.pages.operator}
        </To>
      )}
      <button type="button" role="menuitem" className={menuItem} onClick={() => void signOut()}>
        {words.shell.signOut}
      </button>
    </Menu>
  )
}

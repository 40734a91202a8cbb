// The groups that a contact is in, and the form that adds it to another one.
import { AddToGroupDocument, type GroupRowFragment, type WholeContactFragment } from '../generated/contacts/graphql.ts'
import { ask } from '../graph/request.ts'
import type { List } from '../graph/use-list.ts'
import { pathIn, To } from '../navigation.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Choice } from '../ui/field.tsx'
import { More } from '../ui/more.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { text } from './words.ts'

interface GroupsOfContactProps {
  contact: WholeContactFragment
  /** The groups of the workspace. */
  all: List<GroupRowFragment>
  again: () => void
}

export function GroupsOfContact({ contact: { id, groups }, all, again }: GroupsOfContactProps) {
  const { team } = useWorkspace()
  const add = useTask(async (fields: FormData) => {
    await ask(team, AddToGroupDocument, { groupId: String(fields.get('groupId')), contactIds: [id] })
    again()
  })
  const others = all.rows.filter((group) => groups.every(({ id: known }) => known !== group.id))
  return (
    <section className={parts.panel} aria-label={text.groups}>
      <div className={parts.panelHead}>
        <h2>{text.groups}</h2>
      </div>
      <div className={`${parts.panelBody} ${parts.stack}`}>
        {groups.length === 0 && <p className={parts.hint}>{text.inNoGroup}</p>}
        <ul aria-label={text.groups}>
          {groups.map((group) => (
            <li key={group.id}>
              <To to={pathIn(team, `groups/${group.id}`)}>{group.name}</To>
            </li>
          ))}
        </ul>
        <Refusal error={add.error} />
        {(others.length > 0 || all.more) && (
          <form className={parts.stack} noValidate onSubmit={submits(add.run)}>
            <Choice label={text.addTo} name="groupId" issues={add.issues}>
              {others.map((group) => (
                <option key={group.id} value={group.id}>
                  {group.name}
                </option>
              ))}
            </Choice>
            <More list={all} />
            <div className={parts.row}>
              <button type="submit" className={parts.button} disabled={add.running}>
                {words.actions.add}
              </button>
            </div>
          </form>
        )}
      </div>
    </section>
  )
}

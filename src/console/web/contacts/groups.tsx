// The groups of contacts, and the form that makes one.
import { useRef } from 'react'
import { CreateGroupDocument } from '../generated/contacts/graphql.ts'
import { newIdempotencyKey } from '../graph/change.ts'
import { ask } from '../graph/request.ts'
import { pathIn, To } from '../navigation.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import { TextField } from '../ui/field.tsx'
import { More } from '../ui/more.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { count, words } from '../words/words.ts'
import { useGroups } from './use-groups.ts'
import { text } from './words.ts'

export function Groups() {
  const { team } = useWorkspace()
  const list = useGroups()
  const form = useRef<HTMLFormElement>(null)
  // The key stays the same until the name changes.
  const idempotencyKey = useRef(newIdempotencyKey())
  const add = useTask(async (fields: FormData) => {
    const input = { name: String(fields.get('name')), idempotencyKey: idempotencyKey.current }
    await ask(team, CreateGroupDocument, { input })
    // It stays, and keeps the focus for the next one.
    form.current?.reset()
    list.again()
  })
  return (
    <section className={parts.panel} aria-label={text.groups}>
      <div className={parts.panelHead}>
        <h2>{text.groups}</h2>
      </div>
      <div className={`${parts.panelBody} ${parts.stack}`}>
        <Refusal error={add.error ?? list.error} />
        {list.rows.length === 0 && !list.loading && !list.error && <p className={parts.hint}>{text.noGroups}</p>}
        <ul aria-label={text.groups}>
          {list.rows.length === 0 && list.loading && <li>{words.loading}</li>}
          {list.rows.map(({ id, name, membersCount }) => (
            <li key={id}>
              <To to={pathIn(team, `groups/${id}`)}>{name}</To> {count(membersCount)}
            </li>
          ))}
        </ul>
        <More list={list} />
        <form
          ref={form}
          className={parts.stack}
          noValidate
          onSubmit={submits(add.run)}
          onChange={() => {
            idempotencyKey.current = newIdempotencyKey()
          }}
        >
          <TextField label={text.newGroup} name="name" autoComplete="off" issues={add.issues} />
          <div className={parts.row}>
            <button type="submit" className={parts.button} disabled={add.running}>
              {words.actions.add}
            </button>
          </div>
        </form>
      </div>
    </section>
  )
}

// The numbers that get no messages any more: added, removed, and those who asked for it themselves.
import { useState } from 'react'
import { AddSuppressionDocument, RemoveSuppressionDocument, SuppressionsDocument } from '../generated/suppressions/graphql.ts'
import { ask } from '../graph/request.ts'
import { useList } from '../graph/use-list.ts'
import { useSoon } from '../graph/use-soon.ts'
import { useFrames, useWorkspace } from '../shell/workspace-context.ts'
import { AddButton } from '../ui/add-button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { EditDialog } from '../ui/edit-dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { More } from '../ui/more.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { useOnce } from '../ui/use-once.ts'
import { words } from '../words/words.ts'
import { Keywords } from './keywords.tsx'
import { text } from './words.ts'

export function Suppressions() {
  const { team } = useWorkspace()
  const list = useList(
    SuppressionsDocument,
    { first: 50 },
    (data) => data.suppressions,
    ({ phone }) => phone,
  )
  // A keyword in a message adds its sender, or removes it.
  const soon = useSoon(list.refresh)
  useFrames((events) => {
    if (events.some(({ message }) => message?.direction === 'inbound')) soon()
  })
  const read = useOnce(!list.loading)
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<string | null>(null)
  async function add(phone: string): Promise<void> {
    await ask(team, AddSuppressionDocument, { input: { phone } })
    list.again()
  }
  async function remove(phone: string): Promise<void> {
    await ask(team, RemoveSuppressionDocument, { phone })
    list.again()
  }
  return (
    <Page title={text.title} actions={<AddButton label={text.add} add={() => setAdding(true)} />}>
      <p className={parts.hint}>{text.what}</p>
      <Refusal error={list.error} />
      <Table
        name={text.numbers}
        columns={[text.number, text.reason, text.since, text.actions]}
        loading={list.loading}
        failed={list.error !== undefined}
        empty={<p>{text.empty}</p>}
      >
        {list.rows.map(({ phone, reason, createdAt }) => (
          <Row
            key={phone}
            cells={[
              phone,
              text.reasons[reason],
              <Time key="since" at={createdAt} />,
              <button
                key="remove"
                type="button"
                className={parts.button}
                aria-label={text.removeOf(phone)}
                onClick={() => setRemoving(phone)}
              >
                {text.remove}
              </button>,
            ]}
          />
        ))}
      </Table>
      <More list={list} />
      {read && <Keywords />}
      {adding && <AddDialog add={add} close={() => setAdding(false)} />}
      {removing && (
        <Confirm
          title={text.removeOf(removing)}
          action={text.remove}
          act={() => remove(removing)}
          close={() => setRemoving(null)}
        >
          {text.removeNote}
        </Confirm>
      )}
    </Page>
  )
}

function AddDialog({ add, close }: { add: (phone: string) => Promise<void>; close: () => void }) {
  const save = (fields: FormData) => add(String(fields.get('phone')))
  return (
    <EditDialog title={text.add} action={words.actions.add} close={close} save={save}>
      {(issues) => (
        <TextField label={text.number} name="phone" type="tel" autoComplete="off" hint={text.numberHint} issues={issues} />
      )}
    </EditDialog>
  )
}

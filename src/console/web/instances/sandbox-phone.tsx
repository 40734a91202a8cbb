// In the sandbox nobody writes by himself: this form does it in the name of a recipient.
import { useRef, useState } from 'react'
import { ReceiveInSandboxDocument } from '../generated/instances/graphql.ts'
import { change, newIdempotencyKey } from '../graph/change.ts'
import { pathIn, To } from '../navigation.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import { TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { text } from './words.ts'

export function SandboxPhone({ id }: { id: string }) {
  const { team, graph } = useWorkspace()
  const [received, setReceived] = useState<string | null>(null)
  // The key stays the same until a field changes or the message has arrived.
  const idempotencyKey = useRef(newIdempotencyKey())
  const renewKey = () => {
    idempotencyKey.current = newIdempotencyKey()
  }
  const task = useTask(async (fields: FormData) => {
    setReceived(null)
    const said = { from: String(fields.get('from')), text: String(fields.get('text')) }
    const input = { ...said, idempotencyKey: idempotencyKey.current }
    setReceived((await change(graph, ReceiveInSandboxDocument, { id, input })).receiveInSandbox.id)
    renewKey()
  })
  return (
    <section className={parts.panel} aria-label={text.sandbox}>
      <div className={parts.panelHead}>
        <h2>{text.sandbox}</h2>
      </div>
      <form className={`${parts.panelBody} ${parts.stack}`} noValidate onSubmit={submits(task.run)} onChange={renewKey}>
        <p className={parts.hint}>{text.sandboxNote}</p>
        <TextField label={text.from} name="from" type="tel" autoComplete="off" issues={task.issues} />
        <TextField label={text.text} name="text" autoComplete="off" issues={task.issues} />
        <Refusal error={task.error} />
        <div className={parts.row}>
          <button type="submit" className={parts.button} disabled={task.running}>
            {text.receive}
          </button>
          <span role="status">{received && <To to={pathIn(team, `messages/${received}`)}>{text.openReceived}</To>}</span>
        </div>
      </form>
    </section>
  )
}

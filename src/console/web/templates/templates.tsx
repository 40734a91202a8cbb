// The templates of the workspace.
import { Plus } from 'lucide-react'
import { useRef, useState } from 'react'
import { CreateTemplateDocument, TemplatesDocument } from '../generated/templates/graphql.ts'
import { change, newIdempotencyKey } from '../graph/change.ts'
import { useRead } from '../graph/use-read.ts'
import { pathIn, To, useGo } from '../navigation.tsx'
import { useDraft } from '../shell/use-draft.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { count, words } from '../words/words.ts'
import { TemplateFields, templateFields, templateIn } from './template-fields.tsx'
import { text } from './words.ts'

export function Templates() {
  const { team } = useWorkspace()
  const { data, error, loading } = useRead(TemplatesDocument, {})
  const [creating, setCreating] = useState(false)
  return (
    <Page
      title={text.title}
      actions={
        <button type="button" className={`${parts.button} ${parts.main}`} onClick={() => setCreating(true)}>
          <Plus size={15} aria-hidden />
          {text.create}
        </button>
      }
    >
      <Refusal error={error} />
      <Table
        name={text.title}
        columns={[words.fields.name, text.type, text.text, text.campaigns, text.changed]}
        loading={loading}
        failed={error !== undefined}
        empty={
          <>
            <h2>{text.emptyTitle}</h2>
            <p>{text.empty}</p>
          </>
        }
      >
        {(data?.templates ?? []).map(({ id, name, type, body, campaignsCount, updatedAt }) => (
          <Row
            key={id}
            cells={[
              <To key="name" to={pathIn(team, `templates/${id}`)}>
                {name}
              </To>,
              words.type[type],
              body.length > 80 ? `${body.slice(0, 80)}…` : body,
              count(campaignsCount),
              <Time key="changed" at={updatedAt} />,
            ]}
          />
        ))}
      </Table>
      {creating && <NewTemplate close={() => setCreating(false)} />}
    </Page>
  )
}

function NewTemplate({ close }: { close: () => void }) {
  const { team, graph } = useWorkspace()
  const go = useGo()
  const { draft } = useDraft('template')
  const idempotencyKey = useRef(newIdempotencyKey())
  const task = useTask(async (fields: FormData) => {
    const input = { ...templateIn(fields), idempotencyKey: idempotencyKey.current }
    const { createTemplate } = await change(graph, CreateTemplateDocument, { input })
    draft.forget()
    go(pathIn(team, `templates/${createTemplate.id}`))
  })
  return (
    <Dialog title={text.create} close={close}>
      <form
        className={parts.stack}
        noValidate
        onSubmit={submits(task.run)}
        onChange={(event) => {
          idempotencyKey.current = newIdempotencyKey()
          draft.keep(event.currentTarget)
        }}
      >
        <TemplateFields said={draft.said} issues={task.issues} />
        <Refusal error={task.error} fields={templateFields} />
        <div className={parts.row}>
          <button type="submit" className={`${parts.button} ${parts.main}`} disabled={task.running}>
            {text.submit}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

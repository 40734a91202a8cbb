// The templates of the workspace.
import { useState } from 'react'
import { CreateTemplateDocument, TemplatesDocument } from '../generated/templates/graphql.ts'
import { change } from '../graph/change.ts'
import { useRead } from '../graph/use-read.ts'
import { pathIn, To, useGo } from '../navigation.tsx'
import { useDraft } from '../shell/use-draft.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { AddButton } from '../ui/add-button.tsx'
import { CreateForm } from '../ui/create-form.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Page } from '../ui/page.tsx'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { count, words } from '../words/words.ts'
import { TemplateFields, templateFields, templateIn } from './template-fields.tsx'
import { text } from './words.ts'

export function Templates() {
  const { team } = useWorkspace()
  const { data, error, loading } = useRead(TemplatesDocument, {})
  const [creating, setCreating] = useState(false)
  return (
    <Page title={text.title} actions={<AddButton label={text.create} add={() => setCreating(true)} />}>
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
  async function create(fields: FormData, idempotencyKey: string): Promise<void> {
    const input = { ...templateIn(fields), idempotencyKey }
    const { createTemplate } = await change(graph, CreateTemplateDocument, { input })
    draft.forget()
    go(pathIn(team, `templates/${createTemplate.id}`))
  }
  return (
    <Dialog title={text.create} close={close}>
      <CreateForm submit={text.submit} create={create} changed={draft.keep} fields={templateFields}>
        {(issues) => <TemplateFields said={draft.said} issues={issues} />}
      </CreateForm>
    </Dialog>
  )
}

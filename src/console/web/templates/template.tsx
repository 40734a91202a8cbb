// One template: its text, and its preview with values.
import { useState } from 'react'
import {
  DeleteTemplateDocument,
  TemplateDocument,
  type TemplateRowFragment,
  UpdateTemplateDocument,
} from '../generated/templates/graphql.ts'
import { change } from '../graph/change.ts'
import { ask } from '../graph/request.ts'
import { useRead } from '../graph/use-read.ts'
import { pathIn, useGo, usePart } from '../navigation.tsx'
import { NotFound } from '../shell/not-found.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Confirm } from '../ui/confirm.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { SaveForm } from '../ui/save-form.tsx'
import { words } from '../words/words.ts'
import { Preview } from './preview.tsx'
import { TemplateFields, templateFields, templateIn } from './template-fields.tsx'
import { text } from './words.ts'

export function Template() {
  const id = usePart('templateId')
  const { data, error, loading } = useRead(TemplateDocument, { id })
  if (data?.template) return <Shown template={data.template} error={error} />
  if (!loading && (error?.code === 'NOT_FOUND' || error?.code === 'VALIDATION_ERROR')) return <NotFound />
  return <Page title={text.template}>{error ? <Refusal error={error} /> : words.loading}</Page>
}

function Shown({ template, error }: { template: TemplateRowFragment; error: unknown }) {
  const { team, graph } = useWorkspace()
  const go = useGo()
  const [deleting, setDeleting] = useState(false)
  const { id, name } = template
  const save = (fields: FormData) => change(graph, UpdateTemplateDocument, { id, input: templateIn(fields) })
  return (
    <Page
      title={name}
      actions={
        <button type="button" className={`${parts.button} ${parts.danger}`} onClick={() => setDeleting(true)}>
          {words.actions.delete}
        </button>
      }
    >
      <Refusal error={error} />
      <div className={parts.columns}>
        <section className={parts.panel} aria-label={text.template}>
          <SaveForm isMain save={save} fields={templateFields}>
            {(issues) => <TemplateFields template={template} issues={issues} />}
          </SaveForm>
        </section>
        <Preview key={template.updatedAt} id={id} />
      </div>
      {deleting && (
        <Confirm
          title={text.deleteTitle}
          action={words.actions.delete}
          act={async () => {
            await ask(team, DeleteTemplateDocument, { id })
            go(pathIn(team, 'templates'))
          }}
          close={() => setDeleting(false)}
        >
          {text.deleteNote}
        </Confirm>
      )}
    </Page>
  )
}

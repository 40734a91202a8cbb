// The dialog that imports contacts from a CSV file, and follows the job until it has ended.
import { useEffect, useState } from 'react'
import { textOf } from '../chosen-file/text-of.ts'
import { ImportJobDocument, StartImportDocument, StopImportDocument } from '../generated/contacts/graphql.ts'
import { ask } from '../graph/request.ts'
import { useRead } from '../graph/use-read.ts'
import { useRefresh } from '../graph/use-refresh.ts'
import { text as reasons } from '../refusals/words.ts'
import { ApiError } from '../session/auth-call.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { CreateForm } from '../ui/create-form.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Choice, TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { Refusal, reasonOf } from '../ui/refusal.tsx'
import { useTask } from '../ui/use-task.ts'
import { count, words } from '../words/words.ts'
import { text } from './words.ts'

/** The import of a person in a workspace that is not read to its end: one that runs, or one with faults. Its dialog may be closed meanwhile. */
const kept = new Map<string, string>()

export function ImportContacts({ done, close }: { done: () => void; close: () => void }) {
  const { me, team } = useWorkspace()
  const of = JSON.stringify([me.id, team])
  const [job, setJob] = useState(kept.get(of) ?? null)
  const forget = () => kept.delete(of)
  async function start(fields: FormData, idempotencyKey: string): Promise<void> {
    const csv = await textOf(fields.get('csv') as File, 'csv')
    const onConflict = fields.get('onConflict') === 'update' ? ('update' as const) : ('skip' as const)
    const { id } = (await ask(team, StartImportDocument, { input: { csv, onConflict, idempotencyKey } })).importContacts
    kept.set(of, id)
    setJob(id)
  }
  return (
    <Dialog title={words.actions.importCsv} close={close}>
      {job ? (
        <Progress
          id={job}
          done={done}
          forget={forget}
          another={() => {
            forget()
            setJob(null)
          }}
        />
      ) : (
        <CreateForm submit={text.startImport} create={start}>
          {(issues) => (
            <>
              <TextField
                label={text.file}
                name="csv"
                type="file"
                accept=".csv,text/csv"
                hint={text.fileHint}
                autoFocus
                issues={issues}
              />
              <Choice label={text.known} name="onConflict" issues={issues}>
                <option value="skip">{text.skip}</option>
                <option value="update">{text.update}</option>
              </Choice>
            </>
          )}
        </CreateForm>
      )}
    </Dialog>
  )
}

interface ProgressProps {
  id: string
  done: () => void
  /** Called when it has ended without faults. */
  forget: () => void
  /** Leads to the form. */
  another: () => void
}

function Progress({ id, done, forget, another }: ProgressProps) {
  const { team } = useWorkspace()
  const { data, error, again } = useRead(ImportJobDocument, { id })
  const stop = useTask(async () => {
    await ask(team, StopImportDocument, { id })
    again()
  })
  const job = data?.bulkJob
  const ended = job?.status === 'done' || job?.status === 'failed' || job?.status === 'cancelled'
  useRefresh(!ended, again)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it has ended.
  useEffect(() => (ended ? done() : undefined), [ended])
  const { created, updated, skipped, invalid = [] } = job?.summary ?? {}
  const settled = (created ?? 0) + (updated ?? 0) + (skipped ?? 0)
  const bad = (job?.processedCount ?? 0) - settled
  // The summary lists the first 100 faults only.
  const unlisted = bad - new Set(invalid.map(({ line }) => line)).size
  const isClean = ended && bad === 0 && !job.error
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it has ended.
  useEffect(() => void (isClean && forget()), [isClean])
  return (
    <div className={parts.stack}>
      <Refusal error={stop.error ?? error} />
      <progress aria-label={text.progress} max={100} value={job?.progress ?? 0} />
      <p role="status">
        {ended &&
          (job.error
            ? reasonOf(new ApiError(0, job.error, job.error), reasons)
            : text.imported(count(created ?? 0), count(updated ?? 0), count(skipped ?? 0), count(bad)))}
      </p>
      <div className={parts.row}>
        {ended || error ? (
          <button type="button" className={parts.button} onClick={another}>
            {text.anotherFile}
          </button>
        ) : (
          <button type="button" className={parts.button} disabled={stop.running} onClick={() => stop.run()}>
            {text.stopImport}
          </button>
        )}
      </div>
      <ul aria-label={text.faults}>
        {invalid.map(({ line, field, message }) => (
          <li key={`${line} ${field}`}>{text.fault(count(line), `${field}: ${message}`)}</li>
        ))}
        {unlisted > 0 && <li>{text.moreFaults(count(unlisted))}</li>}
      </ul>
    </div>
  )
}

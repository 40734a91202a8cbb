// The list of messages: filtered by its address, moving only when asked.
import { Download } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { CancelMessageDocument, MessagesDocument } from '../generated/messages/graphql.ts'
import { change } from '../graph/change.ts'
import { download } from '../graph/download.ts'
import { newer } from '../graph/newer.ts'
import { passes } from '../graph/passing.ts'
import { useList } from '../graph/use-list.ts'
import { pathIn, To, useAddress } from '../navigation.tsx'
import type { ApiError } from '../session/auth-call.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { More } from '../ui/more.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { useTask } from '../ui/use-task.ts'
import { count, words } from '../words/words.ts'
import { exportQuery, filterOf } from './filter.ts'
import { Filters } from './filters.tsx'
import { MessageTable } from './table.tsx'
import { useNewMessages } from './use-new-messages.ts'

export function Messages() {
  const workspace = useWorkspace()
  const [address, setAddress] = useAddress()
  const key = JSON.stringify(filterOf(address))
  const filter = useMemo(() => JSON.parse(key) as ReturnType<typeof filterOf>, [key])
  const list = useList(
    MessagesDocument,
    { first: 50, filter },
    (data) => data.messages,
    ({ id }) => id,
    newer,
  )
  const { rows, error, loading, refresh } = list
  const fresh = useNewMessages(filter, rows, list.more)
  const [marked, setSelected] = useState<ReadonlySet<string>>(new Set())
  // Another filter hides rows that were selected. Nothing happens to a message that is not in sight.
  const selected = new Set(rows.flatMap(({ id }) => (marked.has(id) ? [id] : [])))
  const [said, setSaid] = useState('')
  const showNew = () => {
    fresh.clear()
    refresh()
  }
  useReload(showNew)

  const cancel = useTask(async () => {
    let cancelled = 0
    for (const id of selected) {
      // One that was sent meanwhile is refused; the others are cancelled all the same.
      const done = await change(workspace.graph, CancelMessageDocument, { id }).catch(refused)
      if (done) cancelled++
    }
    const late = selected.size - cancelled
    setSaid(
      [words.messages.cancelled(count(cancelled)), late > 0 && words.messages.notCancelled(count(late))]
        .filter(Boolean)
        .join(', '),
    )
    setSelected(new Set())
  })
  const csv = useTask(() => download(workspace.team, `messages/export.csv?${exportQuery(filter)}`, 'messages.csv'))
  const filtered = Object.keys(filter).length > 0

  return (
    <Page
      title={words.messages.title}
      actions={
        <>
          {selected.size > 0 && (
            <button
              type="button"
              className={`${parts.button} ${parts.danger}`}
              disabled={cancel.running}
              onClick={() => cancel.run()}
            >
              {words.messages.cancelSelected}
            </button>
          )}
          <button type="button" className={parts.button} disabled={csv.running} onClick={() => csv.run()}>
            <Download size={15} aria-hidden />
            {words.actions.exportCsv}
          </button>
        </>
      }
    >
      <Filters address={address} setAddress={setAddress} issues={error?.issues} />
      <Refusal error={csv.error ?? cancel.error ?? error} />
      <p role="status" className={parts.unseen}>
        {said}
      </p>
      <MessageTable
        rows={rows}
        loading={loading}
        failed={error !== undefined}
        selected={selected}
        setSelected={setSelected}
        above={
          fresh.count > 0 && (
            <button type="button" className={`${parts.button} ${parts.main}`} onClick={showNew}>
              {words.messages.showNew(fresh.text())}
            </button>
          )
        }
        empty={filtered ? <p>{words.messages.emptyFiltered}</p> : <Nothing />}
      />
      <More list={list} />
    </Page>
  )
}

/** A gateway that is away has refused nothing. */
function refused(error: ApiError): null {
  if (passes(error)) throw error
  return null
}

function Nothing() {
  const { team } = useWorkspace()
  return (
    <>
      <h2>{words.messages.emptyTitle}</h2>
      <p>{words.messages.empty}</p>
      <To to={pathIn(team, 'send')} className={`${parts.button} ${parts.main}`}>
        {words.messages.sendFirst}
      </To>
    </>
  )
}

/** The key `r` shows what is new. */
function useReload(show: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const plain = !event.ctrlKey && !event.metaKey && !event.altKey
      const writing = (event.target as HTMLElement).closest('input, textarea, select, dialog')
      if (event.key === 'r' && plain && !writing) show()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  })
}

// One instance: its connection, its safety, and in the sandbox a phone that writes to it.
import { useState } from 'react'
import {
  DeleteInstanceDocument,
  InstanceDocument,
  InstanceNowDocument,
  LogOutInstanceDocument,
  RenameInstanceDocument,
} from '../generated/instances/graphql.ts'
import { change } from '../graph/change.ts'
import { ask } from '../graph/request.ts'
import { usePoll } from '../graph/use-poll.ts'
import { useRead } from '../graph/use-read.ts'
import { pathIn, useGo, usePart } from '../navigation.tsx'
import { NotFound } from '../shell/not-found.tsx'
import { useFrames, useManages, useWorkspace } from '../shell/workspace-context.ts'
import { Confirm } from '../ui/confirm.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Rename } from '../ui/rename.tsx'
import { words } from '../words/words.ts'
import { Connection } from './connection.tsx'
import { EditSettings } from './edit-settings.tsx'
import { Safety } from './safety.tsx'
import { SandboxPhone } from './sandbox-phone.tsx'
import type { ShownInstance } from './shown-instance.ts'
import { text } from './words.ts'

export function Instance() {
  const id = usePart('instanceId')
  const { data, error, loading, again } = useRead(InstanceDocument, { id })
  const instance = data?.instance
  useFrames((events) => {
    if (events.some((event) => event.instance?.id === id)) again()
  })
  // Another program may connect it, and no event tells of codes for pairing, names and reasons of a failure.
  usePoll(InstanceNowDocument, { id }, (now) => {
    if (!now) again()
  })
  if (instance && !instance.deletedAt) return <Shown instance={instance} error={error} again={again} />
  if (instance || (!loading && (error?.code === 'NOT_FOUND' || error?.code === 'VALIDATION_ERROR'))) return <NotFound />
  return <Page title={text.instance}>{error ? <Refusal error={error} /> : words.loading}</Page>
}

function Shown({ instance, error, again }: { instance: ShownInstance; error: unknown; again: () => void }) {
  const { team, graph } = useWorkspace()
  const manages = useManages()
  const go = useGo()
  const [open, setOpen] = useState<'rename' | 'settings' | 'logout' | 'delete' | null>(null)
  const { id, name, provider, state } = instance
  // A network that refuses to connect keeps its login until the instance is logged out.
  const hasLogin = state.status !== 'created' && state.status !== 'logged_out'
  const close = () => setOpen(null)
  return (
    <Page
      title={name}
      actions={
        manages && (
          <>
            <button type="button" className={parts.button} onClick={() => setOpen('rename')}>
              {text.rename}
            </button>
            {provider !== 'sandbox' && (
              <button type="button" className={parts.button} onClick={() => setOpen('settings')}>
                {text.changeSettings}
              </button>
            )}
            {hasLogin && (
              <button type="button" className={parts.button} onClick={() => setOpen('logout')}>
                {text.logOut}
              </button>
            )}
            <button type="button" className={`${parts.button} ${parts.danger}`} onClick={() => setOpen('delete')}>
              {text.delete}
            </button>
          </>
        )
      }
    >
      <Refusal error={error} />
      <div className={parts.columns}>
        <div className={parts.stack}>
          <Connection instance={instance} again={again} />
          {provider === 'sandbox' && <SandboxPhone id={id} />}
        </div>
        <Safety {...instance.health} />
      </div>
      {open === 'rename' && (
        <Rename
          title={text.rename}
          name={name}
          save={(next) => change(graph, RenameInstanceDocument, { id, name: next })}
          close={close}
        />
      )}
      {open === 'settings' && <EditSettings instance={instance} close={close} />}
      {open === 'logout' && (
        <Confirm
          title={text.logOut}
          action={text.logOut}
          act={async () => {
            await ask(team, LogOutInstanceDocument, { id })
            again()
          }}
          close={close}
        >
          {text.logOutNote}
        </Confirm>
      )}
      {open === 'delete' && (
        <Confirm
          title={text.delete}
          action={text.delete}
          act={async () => {
            await ask(team, DeleteInstanceDocument, { id })
            go(pathIn(team, 'instances'))
          }}
          close={close}
        >
          {text.deleteNote}
        </Confirm>
      )}
    </Page>
  )
}

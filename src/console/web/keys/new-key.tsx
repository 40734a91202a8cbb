// The dialog that creates an API key and shows it once, with a request to try it.
import { CircleCheck, Hourglass } from 'lucide-react'
import { useState } from 'react'
import { useRefresh } from '../graph/use-refresh.ts'
import { settings } from '../settings.ts'
import { Code } from '../ui/code.tsx'
import { CreateForm } from '../ui/create-form.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Choice, TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { Secret } from '../ui/secret.tsx'
import { words } from '../words/words.ts'
import type { ApiKeys, NewKey } from './use-api-keys.ts'
import { text } from './words.ts'

const accesses = ['full', 'send', 'read'] as const

type NewKeyProps = Pick<ApiKeys, 'keys' | 'again' | 'create'> & { close: () => void }

export function NewKeyDialog({ keys, again, create, close }: NewKeyProps) {
  const [made, setMade] = useState<{ id: string; key: string } | null>(null)
  const [running, setRunning] = useState(false)
  const isUsed = keys.some(({ id, lastUsedAt }) => id === made?.id && lastUsedAt !== null)
  // No event tells it.
  useRefresh(made !== null && !isUsed, again)
  async function make(fields: FormData, idempotencyKey: string): Promise<void> {
    const { name, access } = Object.fromEntries(fields) as { name: string; access: NewKey['access'] }
    setMade(await create({ name, access, idempotencyKey }))
  }
  const url = `${location.origin}${settings.base}/api/v1/instances`
  return (
    <Dialog title={text.create} close={close} held={running}>
      {made === null ? (
        <CreateForm submit={text.submit} create={make} running={setRunning}>
          {(issues) => (
            <>
              <TextField label={words.fields.name} name="name" autoComplete="off" hint={text.nameHint} issues={issues} />
              <Choice label={text.access} name="access" issues={issues}>
                {accesses.map((access) => (
                  <option key={access} value={access}>
                    {text.accesses[access]}
                  </option>
                ))}
              </Choice>
            </>
          )}
        </CreateForm>
      ) : (
        <div className={parts.stack}>
          <Secret label={text.yours} hint={text.once} value={made.key} />
          <div>
            <p className={parts.hint}>{text.tryIt}</p>
            <Code name={text.tryIt} text={`curl ${url} -H 'x-api-key: ${made.key}'`} />
          </div>
          <p role="status" className={`${parts.row} ${isUsed ? parts.done : parts.hint}`}>
            {isUsed ? <CircleCheck size={16} aria-hidden /> : <Hourglass size={16} aria-hidden />}
            {isUsed ? text.firstUse : text.waiting}
          </p>
          <div className={parts.row}>
            <button type="button" className={parts.button} onClick={close}>
              {text.done}
            </button>
          </div>
        </div>
      )}
    </Dialog>
  )
}

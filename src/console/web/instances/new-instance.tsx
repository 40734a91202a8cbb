// The dialog that creates an instance, with the settings of its network.
import { useRef, useState } from 'react'
import { CreateInstanceDocument, type ProviderName } from '../generated/instances/graphql.ts'
import { change, newIdempotencyKey } from '../graph/change.ts'
import { pathIn, useGo } from '../navigation.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Choice, TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { NetworkSettings, settingsIn } from './network-settings.tsx'
import { text } from './words.ts'

const networks: readonly ProviderName[] = ['sandbox', 'cloud', 'web']

export function NewInstance({ created, close }: { created: () => void; close: () => void }) {
  const { team, graph } = useWorkspace()
  const go = useGo()
  const [network, setNetwork] = useState<ProviderName>('sandbox')
  const idempotencyKey = useRef(newIdempotencyKey())
  const task = useTask(async (fields: FormData) => {
    const settings = settingsIn(fields, network)
    const input = {
      name: String(fields.get('name')),
      provider: network,
      ...(settings && { settings }),
      idempotencyKey: idempotencyKey.current,
    }
    const { createInstance } = await change(graph, CreateInstanceDocument, { input })
    created()
    go(pathIn(team, `instances/${createInstance.id}`))
  })
  return (
    <Dialog title={text.create} close={close}>
      <form
        className={parts.stack}
        noValidate
        onSubmit={submits(task.run)}
        onChange={() => {
          idempotencyKey.current = newIdempotencyKey()
        }}
      >
        <TextField label={words.fields.name} name="name" autoComplete="off" issues={task.issues} />
        <Choice
          label={text.network}
          name="provider"
          value={network}
          hint={text.networkHints[network]}
          issues={task.issues}
          onChange={(event) => setNetwork(event.target.value as ProviderName)}
        >
          {networks.map((name) => (
            <option key={name} value={name}>
              {text.networks[name]}
            </option>
          ))}
        </Choice>
        <NetworkSettings network={network} issues={task.issues} />
        <Refusal error={task.error} />
        <div className={parts.row}>
          <button type="submit" className={`${parts.button} ${parts.main}`} disabled={task.running}>
            {text.submit}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

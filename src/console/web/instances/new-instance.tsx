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
import { text } from './words.ts'

const networks: readonly ProviderName[] = ['sandbox', 'cloud', 'web']

/** The settings that a network asks for. Those that are secret are never shown again. */
const settingsOf: Readonly<Record<ProviderName, readonly (keyof typeof text.settings)[]>> = {
  sandbox: [],
  cloud: ['phoneNumberId', 'businessAccountId', 'accessToken', 'appSecret', 'pin'],
  web: [],
}
const secrets = ['accessToken', 'appSecret', 'pin']

export function NewInstance({ created, close }: { created: () => void; close: () => void }) {
  const { team, graph } = useWorkspace()
  const go = useGo()
  const [network, setNetwork] = useState<ProviderName>('sandbox')
  const idempotencyKey = useRef(newIdempotencyKey())
  const task = useTask(async (fields: FormData) => {
    const given = settingsOf[network].flatMap((name) => {
      const value = String(fields.get(`settings.${name}`)).trim()
      return value ? [[name, value]] : []
    })
    const input = {
      name: String(fields.get('name')),
      provider: network,
      ...(settingsOf[network].length > 0 && { settings: Object.fromEntries(given) }),
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
        {settingsOf[network].map((name) => (
          <TextField
            key={name}
            label={text.settings[name]}
            name={`settings.${name}`}
            type={secrets.includes(name) ? 'password' : 'text'}
            autoComplete="off"
            issues={task.issues}
          />
        ))}
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

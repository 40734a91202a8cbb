// The dialog that creates an instance, with the settings of its network.
import { useState } from 'react'
import { CreateInstanceDocument, type ProviderName } from '../generated/instances/graphql.ts'
import { change } from '../graph/change.ts'
import { pathIn, useGo } from '../navigation.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import { CreateForm } from '../ui/create-form.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Choice, TextField } from '../ui/field.tsx'
import { words } from '../words/words.ts'
import { NetworkSettings, settingsIn } from './network-settings.tsx'
import { text } from './words.ts'

export function NewInstance({ created, close }: { created: () => void; close: () => void }) {
  const { team, graph } = useWorkspace()
  const go = useGo()
  const [network, setNetwork] = useState<ProviderName>('sandbox')
  async function create(fields: FormData, idempotencyKey: string): Promise<void> {
    const settings = settingsIn(fields, network)
    const input = {
      name: String(fields.get('name')),
      provider: network,
      ...(settings && { settings }),
      idempotencyKey,
    }
    const { createInstance } = await change(graph, CreateInstanceDocument, { input })
    created()
    go(pathIn(team, `instances/${createInstance.id}`))
  }
  return (
    <Dialog title={text.create} close={close}>
      <CreateForm submit={text.submit} create={create}>
        {(issues) => (
          <>
            <TextField label={words.fields.name} name="name" autoComplete="off" issues={issues} />
            <Choice
              label={text.network}
              name="provider"
              value={network}
              hint={text.networkHints[network]}
              issues={issues}
              onChange={(event) => setNetwork(event.target.value as ProviderName)}
            >
              {(Object.keys(text.networks) as ProviderName[]).map((name) => (
                <option key={name} value={name}>
                  {text.networks[name]}
                </option>
              ))}
            </Choice>
            <NetworkSettings network={network} issues={issues} />
          </>
        )}
      </CreateForm>
    </Dialog>
  )
}

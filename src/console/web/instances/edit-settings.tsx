// The dialog that changes the settings of an instance.
import { ChangeSettingsDocument } from '../generated/instances/graphql.ts'
import { change } from '../graph/change.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { EditDialog } from '../ui/edit-dialog.tsx'
import { NetworkSettings, type Settings, settingsIn } from './network-settings.tsx'
import type { ShownInstance } from './shown-instance.ts'
import { text } from './words.ts'

export function EditSettings({ instance, close }: { instance: ShownInstance; close: () => void }) {
  const { graph } = useWorkspace()
  const { id, provider, settings } = instance
  const save = (fields: FormData) => change(graph, ChangeSettingsDocument, { id, settings: settingsIn(fields, provider) })
  return (
    <EditDialog title={text.changeSettings} close={close} save={save}>
      {(issues) => <NetworkSettings network={provider} given={settings as Settings} issues={issues} />}
    </EditDialog>
  )
}

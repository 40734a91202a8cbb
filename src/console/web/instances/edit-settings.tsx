// The dialog that changes the settings of an instance.
import { ChangeSettingsDocument } from '../generated/instances/graphql.ts'
import { change } from '../graph/change.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Dialog } from '../ui/dialog.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { NetworkSettings, type Settings, settingsIn } from './network-settings.tsx'
import type { ShownInstance } from './shown-instance.ts'
import { text } from './words.ts'

export function EditSettings({ instance, close }: { instance: ShownInstance; close: () => void }) {
  const { graph } = useWorkspace()
  const { id, provider, settings } = instance
  const task = useTask(async (fields: FormData) => {
    await change(graph, ChangeSettingsDocument, { id, settings: settingsIn(fields, provider) })
    close()
  })
  return (
    <Dialog title={text.changeSettings} close={close}>
      <form className={parts.stack} noValidate onSubmit={submits(task.run)}>
        <NetworkSettings network={provider} given={settings as Settings} issues={task.issues} />
        <Refusal error={task.error} />
        <div className={parts.row}>
          <button type="submit" className={`${parts.button} ${parts.main}`} disabled={task.running}>
            {words.actions.save}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

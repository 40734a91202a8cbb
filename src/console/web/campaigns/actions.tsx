// The dialogs of the actions on a campaign. Each first says what will happen.
import {
  CancelCampaignDocument,
  PauseCampaignDocument,
  ResumeCampaignDocument,
  type StatsRowFragment,
  UpdateCampaignDocument,
  type WholeCampaignFragment,
} from '../generated/campaigns/graphql.ts'
import { change } from '../graph/change.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Confirm } from '../ui/confirm.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { count, words } from '../words/words.ts'
import { paceIn } from './campaign-input.ts'
import { PaceFields } from './pace-fields.tsx'
import { text } from './words.ts'

export type CampaignAction = 'pause' | 'resume' | 'cancel' | 'edit'

interface ActionProps {
  campaign: WholeCampaignFragment
  stats: StatsRowFragment['stats']
  action: CampaignAction
  close: () => void
}

export function ActionDialog({ campaign, stats, action, close }: ActionProps) {
  const { graph } = useWorkspace()
  const { id } = campaign
  if (action === 'edit') return <Edit campaign={campaign} close={close} />
  const left = count(stats.planned + stats.queued)
  const { title, note, document } = {
    pause: { title: text.pause, note: text.pauseNote(left), document: PauseCampaignDocument },
    resume: { title: text.resume, note: text.resumeNote(left), document: ResumeCampaignDocument },
    cancel: { title: text.cancel, note: text.cancelNote(left), document: CancelCampaignDocument },
  }[action]
  return (
    <Confirm
      title={title}
      action={title}
      keep={text.keep}
      act={() => change<object, { id: string }>(graph, document, { id })}
      close={close}
    >
      {note}
    </Confirm>
  )
}

function Edit({ campaign, close }: { campaign: WholeCampaignFragment; close: () => void }) {
  const { graph } = useWorkspace()
  const { id, name, ratePerMinute, quietHours } = campaign
  const task = useTask(async (fields: FormData) => {
    await change(graph, UpdateCampaignDocument, { id, input: { name: String(fields.get('name')), ...paceIn(fields) } })
    close()
  })
  return (
    <Dialog title={text.edit} close={close}>
      <form className={parts.stack} noValidate onSubmit={submits(task.run)}>
        <TextField label={text.name} name="name" defaultValue={name} autoComplete="off" issues={task.issues} />
        <PaceFields ratePerMinute={ratePerMinute} quietHours={quietHours} issues={task.issues} />
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

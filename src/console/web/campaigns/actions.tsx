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
import { EditDialog } from '../ui/edit-dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { count } from '../words/words.ts'
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
  const { id, name, ownRatePerMinute, quietHours } = campaign
  const save = (fields: FormData) =>
    change(graph, UpdateCampaignDocument, { id, input: { name: String(fields.get('name')), ...paceIn(fields) } })
  return (
    <EditDialog title={text.edit} close={close} save={save}>
      {(issues) => (
        <>
          <TextField label={text.name} name="name" defaultValue={name} autoComplete="off" issues={issues} />
          <PaceFields ratePerMinute={ownRatePerMinute} quietHours={quietHours} issues={issues} />
        </>
      )}
    </EditDialog>
  )
}

// The form of a new campaign. It tells what will happen before it starts, and a double click starts one.
import { useEffect, useState } from 'react'
import { BeforeDocument } from '../generated/campaigns/graphql.ts'
import { useRead } from '../graph/use-read.ts'
import { useAddress } from '../navigation.tsx'
import { NotFound } from '../shell/not-found.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Page } from '../ui/page.tsx'
import { Refusal } from '../ui/refusal.tsx'
import { useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { readFailed } from './again.ts'
import { CampaignForm } from './campaign-form.tsx'
import { text } from './words.ts'

export function NewCampaign() {
  const [{ again }] = useAddress()
  return again ? <Again id={again} /> : <CampaignForm earlier={null} failed={[]} />
}

/** The form filled with an earlier campaign and those of its recipients who failed. */
function Again({ id }: { id: string }) {
  const { team } = useWorkspace()
  const { data, error, loading } = useRead(BeforeDocument, { id })
  const [failed, setFailed] = useState<string[] | null>(null)
  const read = useTask(async () => setFailed(await readFailed(team, id)))
  const known = data?.campaign?.id
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each campaign, if there is one.
  useEffect(() => {
    if (known) void read.run()
  }, [known])
  if (data?.campaign && failed) return <CampaignForm key={id} earlier={data.campaign} failed={failed} />
  if (!loading && (error?.code === 'NOT_FOUND' || error?.code === 'VALIDATION_ERROR')) return <NotFound />
  const fault = read.error ?? error
  return (
    <Page title={text.create}>
      {fault ? <Refusal error={fault} /> : <p role="status">{loading ? words.loading : text.reading}</p>}
    </Page>
  )
}

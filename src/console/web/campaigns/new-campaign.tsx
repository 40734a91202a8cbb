// The form of a new campaign. It tells what will happen before it starts, and a double click starts one.
import { useEffect, useState } from 'react'
import { BeforeDocument } from '../generated/campaigns/graphql.ts'
import { askPatiently } from '../graph/ask-patiently.ts'
import { useRead } from '../graph/use-read.ts'
import { useAddress } from '../navigation.tsx'
import { NotFound } from '../shell/not-found.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Page } from '../ui/page.tsx'
import { Refusal } from '../ui/refusal.tsx'
import { words } from '../words/words.ts'
import { readFailed } from './again.ts'
import { CampaignForm } from './campaign-form.tsx'
import { text } from './words.ts'

export function NewCampaign() {
  const [{ again }] = useAddress()
  return again ? <Again key={again} id={again} /> : <CampaignForm earlier={null} failed={[]} />
}

/** The form filled with an earlier campaign and those of its recipients who failed. */
function Again({ id }: { id: string }) {
  const { team } = useWorkspace()
  const { data, error, loading } = useRead(BeforeDocument, { id })
  const [failed, setFailed] = useState<string[] | null>(null)
  const [unread, setUnread] = useState<unknown>(null)
  const known = data?.campaign?.id
  useEffect(() => (known ? askPatiently(() => readFailed(team, known), setFailed, setUnread) : undefined), [team, known])
  if (data?.campaign && failed) return <CampaignForm earlier={data.campaign} failed={failed} />
  if (!loading && (error?.code === 'NOT_FOUND' || error?.code === 'VALIDATION_ERROR')) return <NotFound />
  const fault = unread ?? error
  return (
    <Page title={text.create}>
      {fault ? <Refusal error={fault} /> : <p role="status">{loading ? words.loading : text.reading}</p>}
    </Page>
  )
}

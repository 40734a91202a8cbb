// The status of a campaign: a word, an icon and a colour.
import { Ban, Check, CircleAlert, Clock, Pause, Send } from 'lucide-react'
import type { CampaignStatus as Status } from '../generated/campaigns/graphql.ts'
import styles from './campaigns.module.css'
import { text } from './words.ts'

export const campaignStatuses: readonly Status[] = ['scheduled', 'running', 'paused', 'completed', 'cancelled', 'failed']

const icons = { scheduled: Clock, running: Send, paused: Pause, completed: Check, cancelled: Ban, failed: CircleAlert }

export function CampaignStatus({ status }: { status: Status }) {
  const Icon = icons[status]
  return (
    <span className={styles.status} data-status={status}>
      <Icon size={14} aria-hidden />
      {text.statuses[status]}
    </span>
  )
}

export function isOpen(status: Status): boolean {
  return status === 'scheduled' || status === 'running' || status === 'paused'
}

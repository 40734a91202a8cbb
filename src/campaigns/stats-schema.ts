// GraphQL types of the status and the progress of a campaign.
import { builder } from '../core/graph/builder.ts'
import { CampaignStatus } from '../generated/prisma/enums.ts'
import type { Counters } from './policy.ts'
import type { Timeline } from './stats.sql.ts'
import type { CampaignStats } from './stats.ts'

export const CampaignStatusRef = builder.enumType('CampaignStatus', {
  description: 'The status of a campaign.',
  values: {
    [CampaignStatus.scheduled]: { description: 'Waits for its start time.' },
    [CampaignStatus.running]: { description: 'Messages are being sent.' },
    [CampaignStatus.paused]: { description: 'Paused by a user, or automatically: see `error`. It can be resumed.' },
    [CampaignStatus.completed]: { description: 'No recipient is planned, queued or being sent to any more.' },
    [CampaignStatus.cancelled]: { description: 'Cancelled by a user.' },
    [CampaignStatus.failed]: { description: 'Failed permanently: see `error`.' },
  } as Record<CampaignStatus, { description: string }>,
})

const CountersRef = builder.objectRef<Counters>('CampaignCounters').implement({
  description: 'The number of recipients in each status. Each recipient is counted once.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All recipients: the sum of the others.' }),
    planned: t.exposeInt('planned', { description: 'Not queued yet.' }),
    queued: t.exposeInt('queued', { description: 'Queued, or on the way to the network.' }),
    sent: t.exposeInt('sent', { description: 'Accepted by the network.' }),
    delivered: t.exposeInt('delivered', { description: 'Delivered to the phone.' }),
    read: t.exposeInt('read', { description: 'Read.' }),
    failed: t.exposeInt('failed', { description: 'Failed.' }),
    cancelled: t.exposeInt('cancelled', { description: 'Cancelled before they were sent.' }),
  }),
})

const TimelineRef = builder.objectRef<Timeline>('CampaignTimeline').implement({
  description: "The times of a campaign's changes; null for changes that have not happened.",
  fields: (t) => {
    const at = (name: keyof Timeline, description: string) => t.expose(name, { type: 'DateTime', nullable: true, description })
    return {
      scheduledFor: at('scheduledFor', 'The planned start; null if it started at once.'),
      processingStartedAt: at('processingStartedAt', 'When it started.'),
      lastEnqueuedAt: at('lastEnqueuedAt', 'When messages were last created.'),
      completedAt: at('completedAt', 'When it was completed.'),
      cancelledAt: at('cancelledAt', 'When it was cancelled.'),
      lastActivityAt: at('lastActivityAt', 'When the campaign, or one of its messages, last changed.'),
    }
  },
})

export const CampaignStatsRef = builder.objectRef<CampaignStats>('CampaignStats').implement({
  description: 'The progress of a campaign at one moment.',
  fields: (t) => ({
    id: t.exposeID('campaignId', { description: "The campaign's id, so that caches keep one record of it." }),
    campaignId: t.exposeID('campaignId', { description: 'The campaign.' }),
    status: t.expose('status', { type: CampaignStatusRef, description: 'Its status.' }),
    stats: t.expose('stats', { type: CountersRef, description: 'Its recipients by status.' }),
    progressPercent: t.exposeInt('progressPercent', {
      description: 'The percentage of recipients who are neither planned nor queued, rounded down.',
    }),
    timeline: t.expose('timeline', { type: TimelineRef, description: 'The times of its changes.' }),
  }),
})

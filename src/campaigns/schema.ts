// GraphQL schema of campaigns: types, queries, mutations and subscription.

import { fail } from '../core/errors.ts'
import { builder } from '../core/graph/builder.ts'
import { readList } from '../core/graph/list.ts'
import { tableOf } from '../core/graph/table.ts'
import { keyed } from '../core/idempotency/idempotency.ts'
import { parse, uuid } from '../core/validation.ts'
import { followOne } from '../events/live/follow.ts'
import type { Campaign } from '../generated/prisma/client.ts'
import { CampaignStatus } from '../generated/prisma/enums.ts'
import { listMessages } from '../messages/list.ts'
import { MessageRef, MessageTypeRef } from '../messages/object.ts'
import { CreateCampaignInput } from './input.ts'
import type { Counters } from './policy.ts'
import { cancelCampaign, createCampaign, pauseCampaign, resumeCampaign } from './service.ts'
import type { Timeline } from './stats.sql.ts'
import { type CampaignStats, statsOf } from './stats.ts'

const CampaignStatusRef = builder.enumType('CampaignStatus', {
  description: 'Where a campaign stands.',
  values: {
    [CampaignStatus.scheduled]: { description: 'Waits for its time.' },
    [CampaignStatus.running]: { description: 'Is being sent.' },
    [CampaignStatus.paused]: { description: 'Stopped by hand, or by itself: `error` says why. It can be resumed.' },
    [CampaignStatus.completed]: { description: 'Nothing is planned, queued or sending any more.' },
    [CampaignStatus.cancelled]: { description: 'Ended by hand.' },
    [CampaignStatus.failed]: { description: 'Cannot go on: `error` says why.' },
  } as Record<CampaignStatus, { description: string }>,
})

const CountersRef = builder.objectRef<Counters>('CampaignCounters').implement({
  description: 'Each recipient is counted once, where the message to them stands.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All recipients: the sum of the others.' }),
    planned: t.exposeInt('planned', { description: 'Their turn has not come.' }),
    queued: t.exposeInt('queued', { description: 'On their way to the network.' }),
    sent: t.exposeInt('sent', { description: 'Taken by the network.' }),
    delivered: t.exposeInt('delivered', { description: 'On the phone.' }),
    read: t.exposeInt('read', { description: 'Read.' }),
    failed: t.exposeInt('failed', { description: 'Will not arrive.' }),
    cancelled: t.exposeInt('cancelled', { description: 'Cancelled before they left.' }),
  }),
})

const TimelineRef = builder.objectRef<Timeline>('CampaignTimeline').implement({
  description: 'When what happened to a campaign; null for what has not.',
  fields: (t) => {
    const at = (name: keyof Timeline, description: string) => t.expose(name, { type: 'DateTime', nullable: true, description })
    return {
      scheduledFor: at('scheduledFor', 'When it is to begin; null for one that began at once.'),
      processingStartedAt: at('processingStartedAt', 'When it began.'),
      lastEnqueuedAt: at('lastEnqueuedAt', 'When messages were last made.'),
      completedAt: at('completedAt', 'When nothing was left to do.'),
      cancelledAt: at('cancelledAt', 'When it was cancelled.'),
      lastActivityAt: at('lastActivityAt', 'When it, or one of its messages, last changed.'),
    }
  },
})

const CampaignStatsRef = builder.objectRef<CampaignStats>('CampaignStats').implement({
  description: 'How far a campaign is, as of one moment.',
  fields: (t) => ({
    campaignId: t.exposeID('campaignId', { description: 'The campaign.' }),
    status: t.expose('status', { type: CampaignStatusRef, description: 'Where it stands.' }),
    stats: t.expose('stats', { type: CountersRef, description: 'Its recipients, counted.' }),
    progressPercent: t.exposeInt('progressPercent', {
      description: 'The share of recipients who are neither planned nor queued, in whole percent, rounded down.',
    }),
    timeline: t.expose('timeline', { type: TimelineRef, description: 'When what happened.' }),
  }),
})

// The type declares no columns to select, so that the row which a mutation returned is used as it is and not read again.
const CampaignRef = builder.prismaObject('Campaign', {
  description: 'One message to many recipients.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    userId: t.exposeID('userId', { description: 'The user whose key created it.' }),
    instanceId: t.exposeID('instanceId', { description: 'The instance it goes through.' }),
    name: t.exposeString('name', { description: 'What people call it.' }),
    type: t.expose('type', { type: MessageTypeRef, description: 'What its messages are.' }),
    templateId: t.exposeID('templateId', { nullable: true, description: 'The template that it was made of.' }),
    status: t.expose('status', { type: CampaignStatusRef, description: 'Where it stands.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why it paused by itself or failed, as a code.' }),
    recipientsCount: t.exposeInt('recipientsCount', { description: 'Distinct numbers.' }),
    scheduledFor: t.expose('scheduledFor', { type: 'DateTime', nullable: true, description: 'When it is to begin.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
    stats: t.field({
      type: CampaignStatsRef,
      extensions: { columns: ['id'] },
      description: 'How far it is.',
      resolve: ({ id }, _, ctx) => statsOf(ctx, id),
    }),
    instance: t.relation('instance', { description: 'The instance it goes through.' }),
    messages: t.connection({
      type: MessageRef,
      extensions: { page: 20, columns: ['id'] },
      description: 'The messages made so far, newest first; 20 a page, at most 100.',
      resolve: ({ id }, args, ctx, info) => listMessages(ctx, info, args, { equal: { campaignId: id } }, 'desc'),
    }),
  }),
})

builder.prismaObjectField(MessageRef, 'campaign', (t) =>
  t.relation('campaign', { nullable: true, description: 'The campaign it belongs to.' }),
)

const campaignTable = tableOf('Campaign', 'campaigns', { instance: tableOf('Instance', 'instances') })

builder.queryFields((t) => ({
  campaign: t.prismaField({
    type: 'Campaign',
    description: 'One campaign.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: async (query, _, args, { app, principal }) => {
      const where = { id: parse(uuid, args.id, 'id'), workspaceId: principal.workspaceId }
      return (await app.db.campaign.findFirst({ ...query, where })) ?? fail('NOT_FOUND', 'Campaign not found')
    },
  }),
  campaigns: t.connection({
    type: CampaignRef,
    extensions: { page: 20 },
    description: 'The campaigns of the workspace, newest first; 20 a page, at most 100.',
    resolve: async (_, args, ctx, info) => {
      const { workspaceId } = ctx.principal
      const page = await readList<Campaign>(ctx, info, args, {
        table: campaignTable,
        of: ['workspaceId', workspaceId],
        binding: ['campaigns', workspaceId],
      })
      return { ...page, totalCount: () => ctx.app.db.campaign.count({ where: { workspaceId } }) }
    },
  }),
}))

builder.mutationFields((t) => {
  const id = t.arg.id({ required: true, description: 'The campaign.' })
  return {
    createCampaign: t.field({
      type: CampaignRef,
      description: 'Creates a campaign, which begins at once or at its time; its recipients stay as they are now.',
      errors: [
        'NOT_FOUND',
        'TEMPLATE_INVALID',
        'SUBSCRIPTION_INACTIVE',
        { MONTHLY_OUTBOUND_QUOTA_EXCEEDED: 'for more than a year of the quota, planned in one month' },
      ],
      authScopes: { active: true },
      args: { input: t.arg({ type: CreateCampaignInput.ref, required: true, description: 'Its message and its recipients.' }) },
      resolve: (_, { input }, ctx) => createCampaign(keyed(ctx, 'createCampaign', input), input),
    }),
    pauseCampaign: t.field({
      type: CampaignRef,
      description: 'Lets nothing further leave; what is queued is planned again.',
      errors: ['NOT_FOUND', 'INVALID_STATE'],
      args: { id },
      resolve: (_, args, ctx) => pauseCampaign(ctx, parse(uuid, args.id, 'id')),
    }),
    resumeCampaign: t.field({
      type: CampaignRef,
      description: 'Goes on with a paused campaign.',
      errors: ['NOT_FOUND', 'INVALID_STATE', 'SUBSCRIPTION_INACTIVE'],
      authScopes: { active: true },
      args: { id },
      resolve: (_, args, ctx) => resumeCampaign(ctx, parse(uuid, args.id, 'id')),
    }),
    cancelCampaign: t.field({
      type: CampaignRef,
      description: 'Ends a campaign; what has not begun to leave is cancelled.',
      errors: ['NOT_FOUND', 'INVALID_STATE'],
      args: { id },
      resolve: (_, args, ctx) => cancelCampaign(ctx, parse(uuid, args.id, 'id')),
    }),
  }
})

builder.subscriptionField('campaignStats', (t) =>
  t.field({
    type: CampaignStatsRef,
    description: 'How far a campaign is: now, and again whenever that changed.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'The campaign.' }) },
    subscribe: (_, args, { app, principal: { workspaceId } }) =>
      followOne('campaign', args.id, async (id) => {
        const found = await app.db.campaign.findFirst({ where: { id, workspaceId }, select: { id: true } })
        return found ?? fail('NOT_FOUND', 'Campaign not found')
      }),
    resolve: (_, args, ctx) => statsOf(ctx, parse(uuid, args.id, 'id')),
  }),
)

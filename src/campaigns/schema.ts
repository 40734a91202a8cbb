// GraphQL schema of campaigns: types, queries, mutations and subscription.
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { builder } from '../core/graph/builder.ts'
import { connectionOf } from '../core/graph/connection.ts'
import { readList } from '../core/graph/list.ts'
import { loadFound } from '../core/graph/load.ts'
import { tableOf } from '../core/graph/table.ts'
import { keyed } from '../core/idempotency/idempotency.ts'
import { parse, uuid } from '../core/validation.ts'
import { followOne } from '../events/live/follow.ts'
import { EventRef } from '../events/schema.ts'
import type { Campaign } from '../generated/prisma/client.ts'
import { listMessages } from '../messages/list.ts'
import { MessageConnection, MessageRef, MessageTypeRef } from '../messages/object.ts'
import { createCampaign } from './create.ts'
import { CreateCampaignInput, UpdateCampaignInput } from './input.ts'
import { lastAtOf, nextAtOf } from './next-at.ts'
import { type QuietHours, quietHoursOf } from './quiet-hours.ts'
import { cancelCampaign, checkCampaign, pauseCampaign, resumeCampaign } from './service.ts'
import { statsOf } from './stats.ts'
import { CampaignStatsRef, CampaignStatusRef } from './stats-schema.ts'
import { updateCampaign } from './update.ts'

const QuietHoursRef = builder.objectRef<QuietHours>('QuietHours').implement({
  description: 'Hours of the day in which nothing of a campaign leaves.',
  fields: (t) => ({
    from: t.exposeString('from', { description: 'When they begin, as HH:MM.' }),
    to: t.exposeString('to', { description: 'When they end, as HH:MM.' }),
    timeZone: t.exposeString('timeZone', { description: 'Their IANA time zone.' }),
  }),
})

// The type declares no columns to select, so that the row which a mutation returned is used as it is and not read again.
export const CampaignRef = builder.prismaObject('Campaign', {
  description: 'One message to many recipients.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    userId: t.exposeID('userId', {
      description: 'The id of the user who created it; the owner of the workspace if a team key did.',
    }),
    instanceId: t.exposeID('instanceId', { description: 'The instance that sends the messages.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    type: t.expose('type', { type: MessageTypeRef, description: 'The type of its messages.' }),
    templateId: t.exposeID('templateId', { nullable: true, description: 'The template of its messages.' }),
    status: t.expose('status', { type: CampaignStatusRef, description: 'Its status.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why it was paused automatically or failed, as a code.' }),
    recipientsCount: t.exposeInt('recipientsCount', { description: 'The number of recipients.' }),
    scheduledFor: t.expose('scheduledFor', { type: 'DateTime', nullable: true, description: 'The planned start.' }),
    ratePerMinute: t.int({
      nullable: true,
      extensions: { columns: ['ratePerMinute', 'defaultRate'] },
      description:
        'Most messages a minute: the given rate, or else the default by the safety state of the instance when its last message was created. Null before the first message and in the sandbox, which has no default.',
      resolve: ({ ratePerMinute, defaultRate }) => ratePerMinute ?? defaultRate,
    }),
    ownRatePerMinute: t.exposeInt('ratePerMinute', {
      nullable: true,
      description: 'The given rate; null for the default.',
    }),
    quietHours: t.field({
      type: QuietHoursRef,
      nullable: true,
      extensions: { columns: ['quietHours'] },
      description: 'Hours of the day in which nothing leaves.',
      resolve: (campaign) => quietHoursOf(campaign.quietHours),
    }),
    nextAt: t.field({
      type: 'DateTime',
      nullable: true,
      extensions: { columns: ['id', 'status', 'scheduledFor', 'nextAt', 'quietHours'] },
      description:
        'When the next message leaves, by its start, its rate and its quiet hours; null if it is paused, or none is planned.',
      resolve: (campaign, _, ctx) => nextAtOf(ctx, campaign),
    }),
    lastAt: t.field({
      type: 'DateTime',
      nullable: true,
      extensions: { columns: ['id', 'status', 'scheduledFor', 'nextAt', 'quietHours', 'ratePerMinute', 'defaultRate'] },
      description:
        'When the last planned message leaves, if nothing holds it up; null if `nextAt` or `ratePerMinute` is, and after more than 366 periods of quiet hours.',
      resolve: (campaign, _, ctx) => lastAtOf(ctx, campaign),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
    stats: t.field({
      type: CampaignStatsRef,
      extensions: { columns: ['id'] },
      description: 'Its progress.',
      resolve: ({ id }, _, ctx) => statsOf(ctx, id),
    }),
    instance: t.relation('instance', { description: 'The instance that sends the messages.' }),
    messages: t.connection(
      {
        type: MessageRef,
        extensions: { page: 20, columns: ['id'] },
        description: 'The messages created so far, newest first; 20 a page, at most 100.',
        resolve: ({ id }, args, ctx, info) => listMessages(ctx, info, args, { equal: { campaignId: id } }, 'desc'),
      },
      MessageConnection,
    ),
  }),
})

const { connection: CampaignConnection } = connectionOf(CampaignRef, ['QueryCampaignsConnection'])

builder.prismaObjectField(MessageRef, 'campaign', (t) =>
  t.relation('campaign', { nullable: true, description: 'The campaign of the message.' }),
)

builder.prismaObjectField(EventRef, 'campaign', (t) =>
  t.field({
    type: CampaignRef,
    nullable: true,
    description: 'The campaign of the event, or of its message.',
    resolve: ({ campaignId }, _, ctx) =>
      campaignId === null ? null : loadFound(ctx, 'event.campaign', campaignId, null, (ids) => readCampaigns(ctx, ids)),
  }),
)

async function readCampaigns({ app, principal }: Context, ids: readonly string[]): Promise<Map<string, Campaign>> {
  const rows = await app.db.campaign.findMany({ where: { id: { in: [...ids] }, workspaceId: principal.workspaceId } })
  return new Map(rows.map((row) => [row.id, row]))
}

const campaignTable = tableOf('Campaign', 'campaigns', { instance: tableOf('Instance', 'instances') })

builder.queryFields((t) => ({
  campaign: t.prismaField({
    type: 'Campaign',
    nullable: true,
    description: 'One campaign.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: async (query, _, args, { app, principal }) => {
      const where = { id: parse(uuid, args.id, 'id'), workspaceId: principal.workspaceId }
      return (await app.db.campaign.findFirst({ ...query, where })) ?? fail('NOT_FOUND', 'Campaign not found')
    },
  }),
  campaigns: t.connection(
    {
      type: CampaignRef,
      extensions: { page: 20 },
      description: 'The campaigns of the workspace, newest first; 20 a page, at most 100.',
      args: { status: t.arg({ type: CampaignStatusRef, description: 'Only campaigns with this status.' }) },
      resolve: async (_, { status, ...args }, ctx, info) => {
        const { workspaceId } = ctx.principal
        const page = await readList<Campaign>(ctx, info, args, {
          table: campaignTable,
          of: ['workspaceId', workspaceId],
          binding: ['campaigns', workspaceId, ...(status ? [status] : [])],
          ...(status && { conditions: [['status', '=', status]] }),
        })
        const totalCount = () => ctx.app.db.campaign.count({ where: { workspaceId, ...(status && { status }) } })
        return { ...page, totalCount }
      },
    },
    CampaignConnection,
  ),
}))

builder.mutationFields((t) => {
  const id = t.arg.id({ required: true, description: 'The campaign.' })
  return {
    createCampaign: t.field({
      type: CampaignRef,
      description: 'Creates a campaign, which starts at once or at its time. Its recipients are fixed now.',
      errors: [
        'NOT_FOUND',
        'TEMPLATE_INVALID',
        'SUBSCRIPTION_INACTIVE',
        { MONTHLY_OUTBOUND_QUOTA_EXCEEDED: 'if more than a yearly quota is planned in one month' },
      ],
      authScopes: { active: true },
      args: { input: t.arg({ type: CreateCampaignInput.ref, required: true, description: 'The message and its recipients.' }) },
      resolve: (_, { input }, ctx) => createCampaign(keyed(ctx, 'createCampaign', input), input),
    }),
    updateCampaign: t.field({
      type: CampaignRef,
      description: 'Changes the name, the rate and the quiet hours of a campaign that has not ended.',
      errors: ['NOT_FOUND', 'INVALID_STATE'],
      args: { id, input: t.arg({ type: UpdateCampaignInput.ref, required: true, description: 'The changes.' }) },
      resolve: (_, args, ctx) =>
        updateCampaign(ctx, parse(uuid, args.id, 'id'), UpdateCampaignInput.parse(ctx.app.config, args.input)),
    }),
    pauseCampaign: t.field({
      type: CampaignRef,
      description: 'Pauses a campaign. No further message is sent; queued ones are planned again.',
      errors: ['NOT_FOUND', 'INVALID_STATE'],
      args: { id },
      resolve: (_, args, ctx) => pauseCampaign(ctx, parse(uuid, args.id, 'id')),
    }),
    resumeCampaign: t.field({
      type: CampaignRef,
      description: 'Resumes a paused campaign.',
      errors: ['NOT_FOUND', 'INVALID_STATE', 'SUBSCRIPTION_INACTIVE'],
      authScopes: { active: true },
      args: { id },
      resolve: (_, args, ctx) => resumeCampaign(ctx, parse(uuid, args.id, 'id')),
    }),
    cancelCampaign: t.field({
      type: CampaignRef,
      description: 'Cancels a campaign, with all messages that are not being sent yet.',
      errors: ['NOT_FOUND', 'INVALID_STATE'],
      args: { id },
      resolve: (_, args, ctx) => cancelCampaign(ctx, parse(uuid, args.id, 'id')),
    }),
  }
})

builder.subscriptionField('campaignStats', (t) =>
  t.field({
    type: CampaignStatsRef,
    description: 'The progress of a campaign: now, and after every change.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'The campaign.' }) },
    subscribe: (_, args, { app, principal: { workspaceId } }) =>
      followOne('campaign', args.id, (id) => checkCampaign(app.db, workspaceId, id)),
    resolve: (_, args, ctx) => statsOf(ctx, parse(uuid, args.id, 'id')),
  }),
)

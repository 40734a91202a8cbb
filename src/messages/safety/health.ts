// GraphQL field Instance.health: safety state and recommendations, from the traffic of the last days.
import type { Context } from '../../core/context.ts'
import { builder } from '../../core/graph/builder.ts'
import { load } from '../../core/graph/load.ts'
import { type Assessment, assess, type Caps, type Traffic } from '../../instances/safety.ts'
import { InstanceRef } from '../../instances/schema.ts'
import { SafetyStateRef } from '../object.ts'
import { reachedAt } from './reach.ts'
import { readWindows } from './read-window.ts'
import type { SafetyInstance } from './safety.ts'
import { trafficOf, type Window } from './window.ts'

interface Health extends Assessment {
  instanceId: string
  firstConnectedAt: Date | null
  traffic: Traffic
  window: Window
  at: Date
}

/** The window of the instance and the moment of its sums. */
function loadWindow(ctx: Context, instanceId: string): Promise<{ window: Window; at: Date }> {
  return load(ctx, 'traffic of instances', instanceId, async (ids) => {
    const at = new Date()
    const windows = await readWindows(ctx.app, ctx.app.pool, ids, at, [])
    return ids.map((id) => ({ window: windows.get(id) as Window, at }))
  })
}

/** The assessment of an instance by its traffic up to now. */
export async function assessNow(ctx: Context, instance: SafetyInstance): Promise<Health> {
  const { window, at } = await loadWindow(ctx, instance.id)
  const traffic = trafficOf(window, instance, at)
  const { id: instanceId, firstConnectedAt } = instance
  return { ...assess(instance, traffic, at), instanceId, firstConnectedAt, traffic, window, at }
}

const WarmupPolicyRef = builder.objectRef<Health>('WarmupPolicy').implement({
  description:
    'The recommended limits for an instance of this age and in this state, the stricter of both; warnings compare with them. Nothing is blocked.',
  fields: (t) => {
    const cap = (name: Exclude<keyof Caps, 'maxColdRatio'>, description: string) =>
      t.int({ description, resolve: (health) => health.caps[name] })
    return {
      state: t.expose('state', { type: SafetyStateRef, description: 'The state of the instance.' }),
      instanceAgeDays: t.exposeFloat('ageDays', { description: 'Days since it first connected.' }),
      hourlyOutboundCap: cap('hourlyOutboundCap', 'Messages in one hour.'),
      dailyOutboundCap: cap('dailyOutboundCap', 'Messages in 24 hours.'),
      hourlyUniqueRecipientsCap: cap('hourlyUniqueRecipientsCap', 'Different recipients in one hour.'),
      dailyUniqueRecipientsCap: cap('dailyUniqueRecipientsCap', 'Different recipients in 24 hours.'),
      maxCampaignRecipients: cap('maxCampaignRecipients', 'Recipients of one campaign.'),
      maxColdRatio: t.float({
        description: 'Share of recipients who never wrote to you, 0 to 1.',
        resolve: (health) => health.caps.maxColdRatio,
      }),
    }
  },
})

const UsageWindowRef = builder.objectRef<Traffic>('UsageWindowSummary').implement({
  description: 'The recent traffic of an instance.',
  fields: (t) => ({
    outbound1h: t.exposeInt('outbound1h', {
      description: 'Messages handed to the network in the last hour, and those queued to leave within the next one.',
    }),
    outbound24h: t.exposeInt('outbound24h', {
      description: 'Messages handed to the network in the last 24 hours, and those queued to leave within the next hour.',
    }),
    uniqueRecipients1h: t.exposeInt('uniqueRecipients1h', { description: 'Recipients of the messages of that hour.' }),
    uniqueRecipients24h: t.exposeInt('uniqueRecipients24h', { description: 'Recipients of the messages of those 24 hours.' }),
    inboundReplies24h: t.exposeInt('inboundReplies24h', { description: 'Messages received in the last 24 hours.' }),
    inboundReplies7d: t.exposeInt('inboundReplies7d', { description: 'Messages received in the last 7 days.' }),
  }),
})

const InstanceHealthRef = builder.objectRef<Health>('InstanceHealth').implement({
  description: 'An assessment of the sending of an instance. Nothing is blocked.',
  fields: (t) => ({
    instanceId: t.exposeID('instanceId', { description: 'The instance.' }),
    safetyState: t.expose('state', { type: SafetyStateRef, description: 'Its state.' }),
    safetyScore: t.exposeInt('score', { description: '0 to 100; below 60 means at risk, below 30 restricted.' }),
    firstConnectedAt: t.expose('firstConnectedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it first connected; null before that.',
    }),
    warmupPolicy: t.field({ type: WarmupPolicyRef, description: 'Its recommended limits.', resolve: (health) => health }),
    usageWindowSummary: t.expose('traffic', { type: UsageWindowRef, description: 'Its recent traffic.' }),
    dailyCapReachedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'When the messages of 24 hours reach `dailyOutboundCap`, if as many leave from now on as in the last hour; null if not within a day.',
      resolve: ({ window, caps, at }) => reachedAt([...window.minutes], caps.dailyOutboundCap, at),
    }),
    recommendations: t.exposeStringList('recommendations', {
      extensions: { items: 10 },
      description: 'Recommendations, as text.',
    }),
  }),
})

builder.prismaObjectField(InstanceRef, 'health', (t) =>
  t.field({
    type: InstanceHealthRef,
    description: 'The assessment of its sending.',
    resolve: (instance, _, ctx) => assessNow(ctx, instance),
  }),
)

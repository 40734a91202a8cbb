// GraphQL field Instance.safetyForecast: the caps of the next days, with what is already planned for them.
import { z } from 'zod'
import { dayMs } from '../../core/durations.ts'
import { builder } from '../../core/graph/builder.ts'
import { load } from '../../core/graph/load.ts'
import { parse } from '../../core/validation.ts'
import { type Assessment, assess, idle, type Standing } from '../../instances/safety.ts'
import { InstanceRef } from '../../instances/schema.ts'
import { SafetyStateRef } from '../object.ts'
import { assessNow } from './health.ts'
import { countScheduled } from './scheduled.sql.ts'

const mostDays = 60
const usualDays = 14
const days = z.int().min(1).max(mostDays)

interface Day extends Pick<Assessment, 'state' | 'caps'> {
  at: Date
  scheduled: number
  campaigns: number
}

/**
 * The state and the caps of an instance at the beginning of each of the next days: by its age, and by what its provider said of it. The first
 * is its state of now; later days do not know the traffic that will have been.
 */
function forecast(standing: Standing, now: Pick<Assessment, 'state' | 'caps'>, from: Date, count: number) {
  return Array.from({ length: count }, (_, n) => {
    const at = new Date(from.getTime() + n * dayMs)
    const { state, caps } = n === 0 ? now : assess(standing, idle, at)
    return { at, state, caps }
  })
}

const DayRef = builder.objectRef<Day>('SafetyForecastDay').implement({
  description: 'The recommended limits of an instance for 24 hours to come, with what is planned for them. Nothing is blocked.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'The beginning of the 24 hours. The first ones begin now.' }),
    state: t.expose('state', {
      type: SafetyStateRef,
      description: 'The state that the instance then has by its age, and by what its provider said of it; the present one first.',
    }),
    hourlyOutboundCap: t.int({ description: 'Messages in one hour.', resolve: ({ caps }) => caps.hourlyOutboundCap }),
    dailyOutboundCap: t.int({ description: 'Messages in 24 hours.', resolve: ({ caps }) => caps.dailyOutboundCap }),
    dailyUniqueRecipientsCap: t.int({
      description: 'Different recipients in 24 hours.',
      resolve: ({ caps }) => caps.dailyUniqueRecipientsCap,
    }),
    scheduled: t.exposeInt('scheduled', { description: 'Messages that are scheduled for these hours.' }),
    campaigns: t.exposeInt('campaigns', {
      description:
        'Messages that campaigns are going to send in these hours, by their starts, rates and quiet hours; an estimate.',
    }),
  }),
})

builder.prismaObjectField(InstanceRef, 'safetyForecast', (t) =>
  t.field({
    type: [DayRef],
    description: 'Its recommended limits for the next days, by its age and state, with what is planned for them.',
    errors: ['VALIDATION_ERROR'],
    extensions: { items: mostDays },
    args: { days: t.arg.int({ defaultValue: usualDays, description: 'The number of days, 1 to 60.' }) },
    resolve: async (instance, args, ctx) => {
      const count = parse(days, args.days ?? usualDays, 'days')
      const { pool, hooks } = ctx.app
      const now = new Date()
      const [present, scheduled, campaigns] = await Promise.all([
        assessNow(ctx, instance),
        load(ctx, `scheduled ${count}`, instance.id, (ids) => countScheduled(pool, ids, now, count)),
        load(ctx, `planned ${count}`, instance.id, (ids) => hooks.plannedSends(ctx.app, ids, now, count)),
      ])
      return forecast(instance, present, now, count).map((day, n) => ({
        ...day,
        scheduled: scheduled[n] ?? 0,
        campaigns: campaigns[n] ?? 0,
      }))
    },
  }),
)

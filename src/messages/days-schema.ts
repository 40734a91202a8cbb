// GraphQL field Usage.days: the outcomes of the messages of an account and its API requests, day by day.
import { z } from 'zod'
import { requestsOn } from '../accounts/keys/key-days.ts'
import { UsageRef } from '../billing/schema.ts'
import { builder } from '../core/graph/builder.ts'
import { parse, uuid } from '../core/validation.ts'
import { type Day, readDays } from './days.sql.ts'

const mostDays = 90
const usualDays = 30
const days = z.int().min(1).max(mostDays)

interface UsageDay extends Day {
  /** False if only the messages of one instance are counted. */
  ofAll: boolean
}

const UsageDayRef = builder.objectRef<UsageDay>('UsageDay').implement({
  description: 'The messages and API requests of one day. A message counts on each day on which it reached a further status.',
  fields: (t) => ({
    day: t.exposeString('day', { description: 'The day in UTC, as YYYY-MM-DD.' }),
    sent: t.exposeInt('sent', { description: 'Messages that the network accepted.' }),
    delivered: t.exposeInt('delivered', { description: 'Messages delivered to the phone.' }),
    read: t.exposeInt('read', { description: 'Messages that the recipient read.' }),
    failed: t.exposeInt('failed', { description: 'Messages that failed.' }),
    received: t.exposeInt('received', { description: 'Messages received.' }),
    requests: t.int({
      nullable: true,
      description:
        'API requests with a key that counted towards the quota, shown within five seconds; a crash loses those of its last three seconds. Null with `instanceId`, because a request is not about one instance.',
      resolve: ({ day, ofAll }, _, ctx) => (ofAll ? requestsOn(ctx, day) : null),
    }),
  }),
})

builder.objectField(UsageRef, 'days', (t) =>
  t.field({
    type: [UsageDayRef],
    description:
      'The messages and API requests of the last days in UTC, today included, oldest first; days without any are zeros. Of the personal and team workspaces together.',
    errors: ['VALIDATION_ERROR'],
    extensions: { items: mostDays },
    args: {
      last: t.arg.int({ defaultValue: usualDays, description: 'The number of days, 1 to 90.' }),
      instanceId: t.arg.id({ description: 'Only messages of this instance, which may be deleted.' }),
    },
    resolve: async (_, { last, instanceId }, { app, principal }) => {
      const instance = instanceId == null ? null : parse(uuid, String(instanceId), 'instanceId')
      const counted = await readDays(app.pool, principal.ownerId, parse(days, last ?? usualDays, 'last'), instance)
      return counted.map((day) => ({ ...day, ofAll: instance === null }))
    },
  }),
)

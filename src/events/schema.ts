// GraphQL fields of events: the paginated log and the live subscription.
import { builder } from '../core/graph/builder.ts'
import { connectionOf } from '../core/graph/connection.ts'
import { filterOf } from './live/filter.ts'
import { followLog } from './live/follow.ts'
import { EventTypeRef } from './log/event-type.ts'
import { readEventPage } from './log/page.ts'
import { cursorOf } from './log/place.ts'

/** Domains that depend on this one add the subject of an event: `message`, `instance`. */
export const EventRef = builder.prismaObject('Event', {
  description: 'An event, the same as in webhooks and live streams. Kept for 30 days.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id, the same in webhooks, streams and lists, and on every attempt.' }),
    type: t.expose('type', { type: EventTypeRef, description: 'Its type.' }),
    cursor: t.string({
      description: 'Its place in the log. Pass it as `after` to get later events.',
      resolve: (event, _, { app }) => cursorOf(app, event),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the event happened.' }),
    payload: t.field({
      type: 'JSON',
      description: 'The object that webhooks receive, or would receive if they offered the type.',
      // A row read directly from the log still holds JSON text.
      resolve: ({ payload }) => (typeof payload === 'string' ? JSON.parse(payload) : payload),
    }),
  }),
})

const { connection: EventConnection } = connectionOf(EventRef, ['QueryEventsConnection'])

builder.queryField('events', (t) =>
  t.connection(
    {
      type: EventRef,
      extensions: { page: 20 },
      description:
        'The events of the last 30 days in their order. Cursors are valid here, in subscriptions and in event streams. If there is no event, and no `before`, `endCursor` is the end of the log, after which the next events come. A page looks through 50,000 events at most: where few match, it may hold fewer than asked, although another page follows at its cursor.',
      args: { types: t.arg({ type: [EventTypeRef], description: 'Only these event types; without it, those of webhooks.' }) },
      resolve: (_, args, context, info) => readEventPage(args, context, info),
    },
    EventConnection,
  ),
)

builder.subscriptionField('events', (t) =>
  t.field({
    type: EventRef,
    // For the cost estimate: a reader that is behind gets this many events in one page.
    extensions: { items: 100 },
    description:
      'Events as they happen. With `after`, the stream starts with the events since that cursor, in order, without gaps or duplicates.',
    errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
    args: {
      after: t.arg.string({ description: 'The cursor of the last event that you received; without it the stream starts now.' }),
      types: t.arg({
        type: [EventTypeRef],
        description: 'Only these event types; without it, all of them, also those that webhooks do not offer.',
      }),
      instanceId: t.arg.id({ description: 'Only events of this instance.' }),
      messageId: t.arg.id({ description: 'Only events of this message.' }),
      campaignId: t.arg.id({ description: 'Only events of messages of this campaign.' }),
    },
    subscribe: async (_, { after, ...filter }, { app, principal }) =>
      followLog<typeof EventRef.$inferType>(await filterOf(app, principal.workspaceId, filter), after),
    resolve: (event) => event,
  }),
)

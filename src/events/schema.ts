// GraphQL fields of events: the paginated log and the live subscription.
import { builder } from '../core/graph/builder.ts'
import { followLog } from './live/follow.ts'
import { scopeOf } from './live/scope.ts'
import { EventTypeRef } from './log/event-type.ts'
import { readEventPage } from './log/page.ts'
import { cursorOf } from './log/place.ts'

/** Domains that depend on this one add the subject of an event: `message`, `instance`. */
export const EventRef = builder.prismaObject('Event', {
  description: 'Something that happened, as webhooks and live streams tell it too. Kept for 30 days.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id, equal on every way and every attempt.' }),
    type: t.expose('type', { type: EventTypeRef, description: 'What it tells of.' }),
    cursor: t.string({
      description: 'Its place in the log: `after` this cursor comes what happened next.',
      resolve: (event, _, { app }) => cursorOf(app, event),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
    payload: t.field({
      type: 'JSON',
      description: 'The very object that webhooks receive.',
      // A row read directly from the log still holds JSON text.
      resolve: ({ payload }) => (typeof payload === 'string' ? JSON.parse(payload) : payload),
    }),
  }),
})

builder.queryField('events', (t) =>
  t.connection({
    type: EventRef,
    extensions: { page: 20 },
    description:
      'The events of the last 30 days in the order in which they happened. Cursors serve here, in subscriptions and in event streams alike. Where there is no event, and no `before`, `endCursor` is the end of the log: what happens next comes after it.',
    args: { types: t.arg({ type: [EventTypeRef], description: 'Only these kinds.' }) },
    resolve: (_, args, context, info) => readEventPage(args, context, info),
  }),
)

builder.subscriptionField('events', (t) =>
  t.field({
    type: EventRef,
    // For the cost estimate: a reader that is behind gets this many events in one page.
    extensions: { items: 100 },
    description: 'Each event as it happens. With `after`, first everything since that cursor, in order, without gap or repeat.',
    errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
    args: {
      after: t.arg.string({ description: 'The cursor of the last event seen; without it the stream begins now.' }),
      types: t.arg({ type: [EventTypeRef], description: 'Only these kinds.' }),
      instanceId: t.arg.id({ description: 'Only events of this instance.' }),
      messageId: t.arg.id({ description: 'Only events of this message.' }),
      campaignId: t.arg.id({ description: 'Only events of messages of this campaign.' }),
    },
    subscribe: async (_, { after, ...scope }, { app, principal }) =>
      followLog<typeof EventRef.$inferType>(await scopeOf(app, principal.workspaceId, scope), after),
    resolve: (event) => event,
  }),
)

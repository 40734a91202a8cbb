// GraphQL fields of a message's progress: Message.timeline, Message.stalled and Message.waitsFor.
import { builder } from '../core/graph/builder.ts'
import { loadFound } from '../core/graph/load.ts'
import { MessageRef, MessageStatusRef } from './object.ts'
import { readWaits } from './timeline.sql.ts'
import {
  isOpen,
  isStalled,
  type MessageWait,
  type TimelineStep,
  timedColumns,
  timelineOf,
  type WaitReason,
  waitOf,
  waitReasons,
} from './timeline.ts'

const TimelineEntryRef = builder.objectRef<TimelineStep>('TimelineEntry').implement({
  description: 'A status and the time when the message reached it.',
  fields: (t) => ({
    status: t.expose('status', { type: MessageStatusRef, description: 'The status.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
    afterMs: t.exposeFloat('afterMs', { description: 'Milliseconds since the step before; 0 for the first one.' }),
  }),
})

const WaitReasonRef = builder.enumType('MessageWaitReason', {
  description: 'The causes of a wait.',
  values: Object.fromEntries(Object.entries(waitReasons).map(([reason, description]) => [reason, { description }])) as Record<
    WaitReason,
    { description: string }
  >,
})

const MessageWaitRef = builder.objectRef<MessageWait>('MessageWait').implement({
  description: 'The wait of a message that is queued or sending.',
  fields: (t) => ({
    reason: t.expose('reason', { type: WaitReasonRef, description: 'The reason.' }),
    text: t.string({ description: 'The reason in words, in English.', resolve: ({ reason }) => waitReasons[reason] }),
    until: t.expose('until', {
      type: 'DateTime',
      nullable: true,
      description: 'When the wait ends by itself; null if that is not known.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the message fails as `EXPIRED` if it has not left; null once it was handed to the network.',
    }),
  }),
})

builder.prismaObjectFields(MessageRef, (t) => ({
  timeline: t.field({
    type: [TimelineEntryRef],
    description:
      'All its statuses, in their order, each with its time. Times after `sending` may come from the network. A queued message that was handed to the network and given back is not `sending` any more.',
    extensions: { items: 7, columns: timedColumns },
    resolve: timelineOf,
  }),
  stalled: t.boolean({
    description: 'True if an outbound message is still `queued` or `sending` one minute after it was due; `waitsFor` says why.',
    extensions: { columns: ['direction', 'status', 'dueAt'] },
    resolve: (message) => isStalled(message, new Date()),
  }),
  waitsFor: t.field({
    type: MessageWaitRef,
    nullable: true,
    description: 'The present wait of an outbound message that is `queued` or `sending`; null for all others.',
    extensions: { columns: ['id', 'direction', 'status'] },
    resolve: async (message, _, ctx) => {
      if (!isOpen(message)) return null
      return await loadFound(ctx, 'waits of messages', message.id, null, async (ids) => {
        const rows = await readWaits(ctx.app.pool, ids)
        return new Map(rows.map((row) => [row.id, waitOf(row, ctx.app.config.messageTtlMs)]))
      })
    },
  }),
}))

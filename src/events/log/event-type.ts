// The GraphQL enum of event types: the names of the API contract with `_` in place of `.`.
import { z } from 'zod'
import { builder } from '../../core/graph/builder.ts'
import { registerEnum } from '../../core/graph/input.ts'
import { type EventType, eventTypes } from './emit.ts'

export const EventTypeRef = builder.enumType('EventType', {
  description: 'The type of an event.',
  values: Object.fromEntries(eventTypes.map((type) => [type.replace('.', '_'), { value: type }])) as Record<
    string,
    { value: EventType }
  >,
})
registerEnum('EventType', EventTypeRef)

/** An event type in a request body, spelled with `.` or `_`. */
export const eventType = z
  .preprocess((value) => (typeof value === 'string' ? value.replace('_', '.') : value), z.enum(eventTypes))
  .meta({ id: 'EventType' })

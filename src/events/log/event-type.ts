// The kinds of events in the graph: the names of the contract, with `_` for `.`.
import { z } from 'zod'
import { builder } from '../../core/graph/builder.ts'
import { registerEnum } from '../../core/graph/input.ts'
import { type EventType, eventTypes } from './emit.ts'

export const EventTypeRef = builder.enumType('EventType', {
  description: 'What an event tells of.',
  values: Object.fromEntries(eventTypes.map((type) => [type.replace('.', '_'), { value: type }])) as Record<
    string,
    { value: EventType }
  >,
})
registerEnum('EventType', EventTypeRef)

/** A kind of event in a body, in either spelling. */
export const eventType = z
  .preprocess((value) => (typeof value === 'string' ? value.replace('_', '.') : value), z.enum(eventTypes))
  .meta({ id: 'EventType' })

// The list of event types in the graph and in requests. The domains above define the types, and src/schema.ts registers them.
import { z } from 'zod'
import { builder } from '../../core/graph/builder.ts'
import { registerEnum } from '../../core/graph/input.ts'
import type { EventDefinition } from './define.ts'

type Values = Record<string, { value: string }>

let registered: readonly string[] = []
let offered: readonly string[] = []

/** The GraphQL enum: the names of the API contract with `_` in place of `.`. */
export const EventTypeRef = builder.enumType('EventType', {
  description:
    'The type of an event. Webhooks do not offer `message_queued`, `message_cancelled`, `campaign_changed`, `contact_changed` and `message_updated`.',
  values: {} as Values,
})
registerEnum('EventType', EventTypeRef)

/** Sets the event types, in the order in which callers see them. Must run before the graph is built. */
export function registerEventTypes(definitions: readonly EventDefinition[]): void {
  registered = definitions.map(({ type }) => type)
  offered = definitions.filter(({ live }) => !live).map(({ type }) => type)
  const values: Values = Object.fromEntries(registered.map((type) => [type.replace('.', '_'), { value: type }]))
  EventTypeRef.updateConfig((config) => ({ ...config, values }))
}

/** The types that webhooks offer, and that streams and lists tell if no types are asked for. */
export function eventTypes(): readonly string[] {
  return offered
}

/** An event type by its name. It is lazy, because the types are registered after this module has loaded. */
const named = z.lazy(() => z.enum([...registered]))
const offeredName = z.lazy(() => z.enum([...offered]))

/** The list of types that a caller asks for. */
export const typeList = z.array(named).min(1).max(50)

/** An event type of a webhook in a request body, spelled with `.` or `_`. */
export const eventType = z
  .preprocess((value) => (typeof value === 'string' ? value.replace('_', '.') : value), offeredName)
  .meta({ id: 'EventType' })

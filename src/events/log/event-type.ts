// The list of event types in the graph and in requests. The domains above define the types, and src/schema.ts registers them.
import { z } from 'zod'
import { builder } from '../../core/graph/builder.ts'
import { registerEnum } from '../../core/graph/input.ts'
import type { EventDefinition } from './define.ts'

type Values = Record<string, { value: string }>

const and = new Intl.ListFormat('en-GB')

let registered: readonly string[] = []
let offered: readonly string[] = []

/** The GraphQL enum: the names of the API contract with `_` in place of `.`. */
export const EventTypeRef = builder.enumType('EventType', {
  values: {} as Values,
})
registerEnum('EventType', EventTypeRef)

/** Sets the event types, in the order in which callers see them. Must run before the graph is built. */
export function registerEventTypes(definitions: readonly EventDefinition[]): void {
  registered = definitions.map(({ type }) => type)
  offered = definitions.filter(({ live }) => !live).map(({ type }) => type)
  const nameOf = (type: string) => type.replace('.', '_')
  const values: Values = Object.fromEntries(registered.map((type) => [nameOf(type), { value: type }]))
  const notOffered = registered.filter((type) => !offered.includes(type)).map((type) => `\`${nameOf(type)}\``)
  const description = `The type of an event. Webhooks do not offer ${and.format(notOffered)}.`
  EventTypeRef.updateConfig((config) => ({ ...config, description, values }))
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

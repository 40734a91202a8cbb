// Defines events: one definition gives a type its name, its payload, its place in the API documents, and a sample.
import type { z } from 'zod'

/** An event that is not in the log yet. Only {@link defineEvent} makes one, so that its payload has the type that is documented. */
export interface NewEvent extends Subject {
  workspaceId: string
  type: string
  /** The payload without `id`, `event` and `timestamp`, which `emit` adds. */
  fields: object
  at: Date
}

/** The rows that an event is about. Streams filter by them, and the fields of the graph lead to them. */
export interface Subject {
  instanceId?: string | null
  messageId?: string | null
  campaignId?: string | null
}

/** The definition as the log, the graph, the documents and the webhooks use it. */
export interface EventDefinition {
  /** `<entity>.<past participle>` in lower case. */
  type: string
  /** Title in the API documents. */
  summary: string
  /** True if live streams tell it to readers that ask for it, and webhooks do not offer it. */
  live?: boolean
  /** Schema of the payload without `id`, `event` and `timestamp`. The documents show it; nothing is validated with it at run time. */
  payload: z.ZodObject
  /** Payload of a test delivery, with ids of nothing that exists. */
  sample: object
}

interface Options<Payload extends z.ZodObject> extends EventDefinition {
  payload: Payload
  /** Returns the ids of the payload that name a row. */
  subject: (fields: z.output<Payload>) => Subject
  sample: z.output<Payload>
}

interface Occurrence {
  workspaceId: string
  /** The campaign of the message that the event is about. It is not part of the payload. */
  campaignId?: string | null
  at: Date
}

export interface DefinedEvent<Fields> extends EventDefinition {
  /** Makes an event of this type for `emit`. Its payload has the fields in the order given. */
  event: (fields: Fields, occurrence: Occurrence) => NewEvent
}

/** Defines a type of event. It takes effect when it stands in the list of `src/event-types.ts`. */
export function defineEvent<Payload extends z.ZodObject>(options: Options<Payload>): DefinedEvent<z.output<Payload>> {
  const { subject, ...definition } = options
  return { ...definition, event: (fields, occurrence) => ({ type: options.type, fields, ...subject(fields), ...occurrence }) }
}

/** The payload of a test delivery: like that of a real event, and marked `test`. */
export function samplePayload({ type, sample }: EventDefinition, id: string, at: Date): object {
  return { id, event: type, test: true, ...sample, timestamp: at.toISOString() }
}

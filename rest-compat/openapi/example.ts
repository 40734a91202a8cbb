// The type of an example body, and the ids that examples contain.

/** Ids of the demo account's records. */
export interface DemoIds {
  instanceId: string
  contactId: string
  groupId: string
  templateId: string
}

export interface Example {
  summary: string
  value: unknown
}

/** An example of a message type: its own fields in a request. Without a summary it is not shown. */
export interface TypeExample {
  summary?: string
  fields: Record<string, unknown>
}

export type Examples = Record<string, Record<string, Example>>

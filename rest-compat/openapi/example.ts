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

export type Examples = Record<string, Record<string, Example>>

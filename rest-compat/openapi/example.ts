// The shape of an example body, and the ids that examples are made with.

/** The ids of what the demo account has. */
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

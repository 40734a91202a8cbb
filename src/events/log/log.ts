// The event log: events numbered in commit order, without gaps, kept for 30 days.

export const retentionDays = 30
/** Days that they stay beyond that, because deliveries of webhooks read their payloads. */
export const spareDays = 1

export interface LogEvent {
  /** Event number. Numbers follow commit order and have no gaps. */
  seq: bigint
  id: string
  workspaceId: string
  type: string
  instanceId: string | null
  messageId: string | null
  campaignId: string | null
  /** JSON text: exactly the body that webhooks receive. */
  payload: string
  createdAt: Date
}

/** The events that a reader follows. A missing field matches every event. */
export interface EventFilter {
  types?: readonly string[] | null
  instanceId?: string | null
  messageId?: string | null
  campaignId?: string | null
}

export interface LogRange {
  /** Exclusive lower bound of the event number. */
  after: bigint
  /** Inclusive upper bound of the event number. */
  upTo?: bigint
  /** Maximum number of events. */
  limit: number
  /** Order by event number; `asc` unless given. */
  order?: 'asc' | 'desc'
}

/** True if the filter accepts the event. */
export function matches(filter: EventFilter, event: LogEvent): boolean {
  return (
    (!filter.types || filter.types.includes(event.type)) &&
    (!filter.instanceId || filter.instanceId === event.instanceId) &&
    (!filter.messageId || filter.messageId === event.messageId) &&
    (!filter.campaignId || filter.campaignId === event.campaignId)
  )
}

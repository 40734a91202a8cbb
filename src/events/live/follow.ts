// Sources that a subscription field can follow. The field's `subscribe` returns one, and the hub of the process does the rest.
import type { Sql } from '../../core/database/database.ts'
import { fail } from '../../core/errors.ts'
import { parse, uuid } from '../../core/validation.ts'
import type { EventFilter } from '../log/log.ts'
import { notifyChanges } from './changes.sql.ts'

/** The event log: the field is resolved once for each matching event, with the event as its root value. */
export interface LogSource {
  kind: 'log'
  filter: EventFilter
  /** The cursor to resume after. Without it, the stream begins at the present. */
  after: string | null
}

/** An entity with a current value: the field is resolved at once, and again whenever one of its subjects changes. */
export interface StateSource {
  kind: 'state'
  subjects: readonly string[]
}

export type Source = LogSource | StateSource

/** Only the hub can follow it. Iterating it throws an error that says so. */
export interface Following<Root> extends AsyncIterable<Root> {
  source: Source
}

export type SubjectKind = 'instance' | 'instances' | 'message' | 'campaign' | 'bulkJob' | 'webhookRedelivery'

/**
 * Names the entity that a state depends on; `instances` names all of the workspace with that id. An event notifies the subjects `instance`,
 * `message` and `campaign` of its ids by itself.
 */
export function subject(kind: SubjectKind, id: string): string {
  return `${kind}:${id}`
}

export function followLog<Root>(filter: EventFilter, after: string | null | undefined): Following<Root> {
  return following({ kind: 'log', filter, after: after || null })
}

export function followState(...subjects: string[]): Following<null> {
  return following({ kind: 'state', subjects })
}

/**
 * Follows the state of the entity with that id, after `read` has found it.
 * @throws VALIDATION_ERROR when the id is malformed; also every error of `read`.
 */
export async function followOne(
  kind: SubjectKind,
  id: unknown,
  read: (id: string) => Promise<unknown>,
): Promise<Following<null>> {
  const parsed = parse(uuid, id, 'id')
  await read(parsed)
  return followState(subject(kind, parsed))
}

/** Notifies every process, when the transaction commits, of subjects that changed without an event. */
export async function announceChange(tx: Sql, ...subjects: string[]): Promise<void> {
  await notifyChanges(tx, subjects)
}

export function sourceOf(value: unknown): Source | undefined {
  return (value as Partial<Following<unknown>> | null)?.source
}

function following<Root>(source: Source): Following<Root> {
  return {
    source,
    [Symbol.asyncIterator]: () => fail('VALIDATION_ERROR', 'Accept: subscriptions are available as text/event-stream only'),
  }
}

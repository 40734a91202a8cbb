// What a subscription field follows. The field's `subscribe` answers with one of these, and the node's hub does the rest.
import type { Sql } from '../../core/database/database.ts'
import { fail } from '../../core/errors.ts'
import { parse, uuid } from '../../core/validation.ts'
import type { EventFilter } from '../log/log.ts'

/** The event log: the field is resolved once for each event that passes, with the event as its root. */
export interface LogSource {
  kind: 'log'
  filter: EventFilter
  /** The cursor to resume after; without it the stream begins now. */
  after: string | null
}

/** Something that has a present value: the field is resolved at once, and again whenever one of its subjects changed. */
export interface StateSource {
  kind: 'state'
  subjects: readonly string[]
}

export type Source = LogSource | StateSource

/** Followed by the hub only; whoever iterates it is told so. */
export interface Following<Root> extends AsyncIterable<Root> {
  source: Source
}

export type SubjectKind = 'instance' | 'message' | 'campaign' | 'bulkJob'

/** Names what a state is about. Events nudge the subjects `instance`, `message` and `campaign` of their ids by themselves. */
export function subject(kind: SubjectKind, id: string): string {
  return `${kind}:${id}`
}

export function followLog<Root>(filter: EventFilter, after: string | null | undefined): Following<Root> {
  return following({ kind: 'log', filter, after: after || null })
}

export function followState(...subjects: string[]): Following<null> {
  return following({ kind: 'state', subjects })
}

/** The state of the one of that id, once `read` has found it. @throws VALIDATION_ERROR for a malformed id, and what `read` throws. */
export async function followOne(
  kind: SubjectKind,
  id: unknown,
  read: (id: string) => Promise<unknown>,
): Promise<Following<null>> {
  const parsed = parse(uuid, id, 'id')
  await read(parsed)
  return followState(subject(kind, parsed))
}

/** Tells every node, when the transaction commits, that a subject changed for which no event was emitted. */
export async function announceChange(tx: Sql, ...subjects: string[]): Promise<void> {
  await tx.query(`select pg_notify('gateway_changes', subject) from unnest($1::text[]) subject`, [subjects])
}

export function sourceOf(value: unknown): Source | undefined {
  return (value as Partial<Following<unknown>> | null)?.source
}

function following<Root>(source: Source): Following<Root> {
  return {
    source,
    [Symbol.asyncIterator]: () => fail('VALIDATION_ERROR', 'Accept: subscriptions are served as text/event-stream only'),
  }
}

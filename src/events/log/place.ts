// Positions of readers in the event log: start, resumption and progress. Cursors reveal nothing about other workspaces.
import { isCreatedAfter } from '../../accounts/workspace.ts'
import type { App } from '../../core/app.ts'
import { dayMs } from '../../core/durations.ts'
import { fail } from '../../core/errors.ts'
import { type Marked, markedOf, openCursor, sealCursor } from './cursor.ts'
import { retentionDays } from './log.ts'
import { type LogBounds, readBounds, readEnd } from './place.sql.ts'

/** The start of a stream. */
export interface Start {
  /** The stream delivers the events above this number. */
  after: bigint
  /** The event that may be revealed to the client: at most `after`, with no event of the workspace between the two. */
  sent: Marked
  /** The first cursor that the client receives, to resume with. */
  cursor: string
}

/** The cursor that resumes after an event of a workspace. */
export function cursorOf(
  app: Pick<App, 'sealer'>,
  event: { workspaceId: string; seq: bigint; id: string; createdAt: Date },
): string {
  return sealCursor(app.sealer, event.workspaceId, { ...markedOf(event), at: event.createdAt })
}

/** The cursor of a reader who has every event of the workspace up to the present, `last` being the last of them. */
export function cursorNow(app: Pick<App, 'sealer'>, workspaceId: string, last: Marked): string {
  return sealCursor(app.sealer, workspaceId, { ...last, at: new Date() })
}

/**
 * The end of the log for a workspace. It reveals the workspace's own last event, or the number 0 when none is kept. The last number of the
 * whole log would reveal activity of other workspaces.
 */
export async function endOf(app: App, workspaceId: string): Promise<Start> {
  const { last, own } = await readEnd(app.pool, workspaceId)
  return { after: last, sent: own, cursor: cursorNow(app, workspaceId, own) }
}

/**
 * Returns the event that a reader resumes after.
 * A cursor of another log (before a restore, before the loss of a primary, of another installation) is refused: its number is beyond the end
 * of this log, or stands for another event here. To continue there would silently skip events. A cursor from before the oldest event kept is
 * refused too: later events may be deleted, and the client must learn that.
 * @throws VALIDATION_ERROR when the cursor is malformed, of another log or too old; the message names `field`.
 */
export async function resumeAfter(app: App, workspaceId: string, cursor: string, field: string): Promise<Marked> {
  const opened = openCursor(app.sealer, workspaceId, cursor)
  if (!opened) return refuse(field)
  const bounds = await readBounds(app.pool, workspaceId, opened.place === undefined ? opened.old : opened.place.seq)
  const seq = opened.place === undefined ? oldNumber(opened.old, bounds, field) : opened.place.seq
  if (seq > bounds.last) fail('VALIDATION_ERROR', `${field}: is beyond the end of the event log`)
  const mark = opened.place?.mark
  if (mark !== undefined && bounds.found && mark !== bounds.found.mark)
    fail('VALIDATION_ERROR', `${field}: is of an event that the log has lost; start without it`)
  // In a quiet workspace, a recent cursor can hold a number below every event kept. Anyone can write a legacy cursor, so the response
  // to one must not depend on the event numbers of other workspaces, unless the workspace existed when numbers were public.
  const since = new Date(Date.now() - retentionDays * dayMs)
  const isRecent = async () => (opened.place ? opened.place.at > since : await isCreatedAfter(app, workspaceId, since))
  if (seq < bounds.floor && !(await isRecent())) {
    fail('VALIDATION_ERROR', `${field}: is older than ${retentionDays} days, the retention of events; start without it`)
  }
  return { seq, mark }
}

/**
 * Returns the event number that a page ends before.
 * @throws VALIDATION_ERROR when the cursor is malformed; the message names `field`.
 */
export async function numberBefore(app: App, workspaceId: string, cursor: string, field: string): Promise<bigint> {
  const opened = openCursor(app.sealer, workspaceId, cursor)
  if (!opened) return refuse(field)
  if (opened.place) return opened.place.seq
  return oldNumber(opened.old, await readBounds(app.pool, workspaceId, opened.old), field)
}

/**
 * The number in a legacy cursor. These are accepted for one retention period after cursors became encrypted. Anyone can write one, so a
 * number that was not issued in that form is lowered to `sealedAfter`. Probing numbers thus reveals nothing that happened since.
 */
function oldNumber(old: bigint, { sealedAfter, takesLegacy, isLegacy }: LogBounds, field: string): bigint {
  if (!takesLegacy) return refuse(field)
  return old <= sealedAfter || isLegacy ? old : sealedAfter
}

function refuse(field: string): never {
  fail('VALIDATION_ERROR', `${field}: is not an event cursor`)
}

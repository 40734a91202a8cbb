// Places in the event log: where a reader begins, resumes, and stands, told so that they show nothing of other workspaces.
import type { App } from '../../core/app.ts'
import { fail } from '../../core/errors.ts'
import { openCursor, placeAt, sealCursor, timeOf } from './cursor.ts'
import { retentionDays } from './log.ts'

/** Where a stream begins. */
export interface Start {
  /** It gives the events above this number. */
  after: bigint
  /** A number not above `after`, between which and `after` the workspace has no event: this one may be told. */
  told: bigint
  /** What the reader is told at first, to come back with. */
  cursor: string
}

/** The cursor of an event of a workspace. */
export function cursorOf(app: Pick<App, 'sealer'>, event: { workspaceId: string; seq: bigint; createdAt: Date }): string {
  return sealCursor(app.sealer, event.workspaceId, placeAt(event.seq, event.createdAt))
}

/** The cursor of a reader who has seen all of the workspace's events until now, the last of them numbered `seq`. */
export function cursorNow(app: Pick<App, 'sealer'>, workspaceId: string, seq: bigint): string {
  return sealCursor(app.sealer, workspaceId, placeAt(seq, new Date()))
}

/**
 * The log's end for a workspace. What is told is the number of its own last event, or 0 where none is kept, because the log's last
 * number moves with what happens elsewhere.
 */
export async function endOf(app: App, workspaceId: string): Promise<Start> {
  const { rows } = await app.pool.query<{ last: string; own: string }>(
    `select last, coalesce((select max(seq) from events where "workspaceId" = $1), 0) as own from event_sequence where id = 1`,
    [workspaceId],
  )
  const told = BigInt(rows[0]?.own ?? 0)
  return { after: BigInt(rows[0]?.last ?? 0), told, cursor: cursorNow(app, workspaceId, told) }
}

interface Bounds {
  last: string
  floor: string
  /** The last number when cursors began to be sealed, and whether those from before are still taken. */
  sealedAfter: string
  takesOld: boolean
  /** Whether the number is an event of the workspace that a process of the version before may have told. */
  toldOld: boolean
  /** Whether the workspace is so new that none of its events was deleted for its age. */
  isNew: boolean
}

/** Processes of the version before may serve beside new ones for so long. */
const upgradeHours = 1

/**
 * The number that a reader resumes after.
 * A cursor beyond the log's end is refused, because the log it was made in is not this one (a restored database, another
 * installation), and waiting for its number would skip events in silence. A cursor from before the oldest event kept is
 * refused for the same reason: what came after it may be gone, and the reader should know.
 * @throws VALIDATION_ERROR naming `field`
 */
export async function resumeAfter(app: App, workspaceId: string, cursor: string, field: string): Promise<bigint> {
  const opened = openCursor(app.sealer, workspaceId, cursor)
  if (!opened) return refuse(field)
  const bounds = await boundsOf(app, workspaceId, opened.old)
  const seq = opened.place === undefined ? oldNumber(opened.old, bounds, field) : opened.place.seq
  if (seq > BigInt(bounds.last)) fail('VALIDATION_ERROR', `${field}: is beyond the end of the event log`)
  // A quiet workspace's place is an old number that was looked at lately. Of a cursor that anybody can write the answer must not
  // depend on numbers of others, unless the workspace was there when they were told to everybody.
  const isRecent = opened.place ? Date.now() - timeOf(opened.place).getTime() < retentionDays * 86_400_000 : bounds.isNew
  if (seq < BigInt(bounds.floor) && !isRecent) {
    fail('VALIDATION_ERROR', `${field}: is older than the ${retentionDays} days that events are kept; start without it`)
  }
  return seq
}

/** The number that a page ends before. @throws VALIDATION_ERROR naming `field` */
export async function numberBefore(app: App, workspaceId: string, cursor: string, field: string): Promise<bigint> {
  const opened = openCursor(app.sealer, workspaceId, cursor)
  if (!opened) return refuse(field)
  if (opened.place) return opened.place.seq
  return oldNumber(opened.old, await boundsOf(app, workspaceId, opened.old), field)
}

async function boundsOf(app: App, workspaceId: string, old: bigint | undefined): Promise<Bounds> {
  const { rows } = await app.pool.query<Bounds>(
    `select last, coalesce((select min(seq) - 1 from events), last) as floor, "sealedAfter",
       "sealedAt" > now() - make_interval(days => $3) as "takesOld",
       exists (select from events where seq = $2 and "workspaceId" = $1 and "createdAt" < "sealedAt" + make_interval(hours => $4)) as "toldOld",
       exists (select from workspaces where id = $1 and "createdAt" > now() - make_interval(days => $3)) as "isNew"
     from event_sequence where id = 1`,
    [workspaceId, old ?? null, retentionDays, upgradeHours],
  )
  return rows[0] ?? { last: '0', floor: '0', sealedAfter: '0', takesOld: false, toldOld: false, isNew: false }
}

/**
 * The number in a cursor from before cursors were sealed, which are taken for as long as events are kept. Anybody can write one, so a
 * number that was not told then means the moment of the change: to try numbers shows nothing that happened since.
 */
function oldNumber(old: bigint, { sealedAfter, takesOld, toldOld }: Bounds, field: string): bigint {
  if (!takesOld) return refuse(field)
  const limit = BigInt(sealedAfter)
  return old <= limit || toldOld ? old : limit
}

function refuse(field: string): never {
  fail('VALIDATION_ERROR', `${field}: is not an event cursor`)
}

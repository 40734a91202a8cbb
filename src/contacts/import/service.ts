// Starts imports of contacts: stores the file in the database together with the job, so that any process can run and resume it.
import { createReadStream } from 'node:fs'
import type { Context } from '../../core/context.ts'
import { fail } from '../../core/errors.ts'
import { write } from '../../core/idempotency/idempotency.ts'
import { createShare } from '../../core/share.ts'
import { lockNewJobs } from '../bulk/bulk.sql.ts'
import { addJob, type BulkJobRecord } from '../bulk/service.ts'
import { lockOwnGroup } from '../groups/membership.ts'
import { countOpenImports, insertPiece } from './import.sql.ts'
import type { ImportOptions } from './input.ts'

const pieceBytes = 256 * 1024

/** An open import stores its file, of up to 64 MiB. */
const maxOpenImports = 5

/**
 * Imports that are being stored: one of a workspace, and three of all, which take a third of a process's connections to the database.
 * Others wait without a connection. While they waited with one, for the lock on new jobs, nobody else got any for two seconds.
 */
const starting = createShare({ perCaller: 1, total: 3, mostWaiting: 20, waitMs: 10_000 })

/** The file of an import: a file on the disk of this machine, or its bytes. */
export type ImportFile = { path: string } | { bytes: Buffer }

/**
 * Stores the file and adds the job that imports it.
 * @throws VALIDATION_ERROR when the file is no UTF-8, NOT_FOUND when the workspace has no such group, API_RATE_LIMIT_EXCEEDED when it has
 * too many open imports, or too many wait to be stored.
 */
export async function startImport(ctx: Context, file: ImportFile, options: ImportOptions): Promise<BulkJobRecord> {
  return await starting.during(ctx.principal.workspaceId, 1, () => store(ctx, file, options))
}

async function store(ctx: Context, file: ImportFile, { groupId, ...options }: ImportOptions): Promise<BulkJobRecord> {
  const { workspaceId } = ctx.principal
  return await write(ctx, async (tx) => {
    // The caller learns at once that the group does not exist, and not from the job.
    if (groupId) await lockOwnGroup(tx, workspaceId, groupId)
    await lockNewJobs(tx, workspaceId)
    if ((await countOpenImports(tx, workspaceId)) >= maxOpenImports) {
      fail('API_RATE_LIMIT_EXCEEDED', `At most ${maxOpenImports} imports at the same time; wait until one has ended`)
    }
    const fields = { groupId: groupId ?? null, contactIds: [], requestedCount: 0, options }
    const job = await addJob(ctx, tx, { operation: 'import_contacts', ...fields })
    const text = new TextDecoder('utf-8', { fatal: true })
    let n = 0
    for await (const piece of piecesOf(file)) {
      checkText(text, piece)
      await insertPiece(tx, job.id, n++, piece)
    }
    checkText(text)
    return job
  })
}

function piecesOf(file: ImportFile): AsyncIterable<Buffer> | Iterable<Buffer> {
  if ('path' in file) return createReadStream(file.path, { highWaterMark: pieceBytes })
  const { bytes } = file
  return Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, i) =>
    bytes.subarray(i * pieceBytes, (i + 1) * pieceBytes),
  )
}

/** @throws VALIDATION_ERROR when the pieces so far are no UTF-8. Without a piece, the text must be complete. */
function checkText(decoder: TextDecoder, piece?: Buffer): void {
  try {
    decoder.decode(piece, { stream: piece !== undefined })
  } catch {
    fail('VALIDATION_ERROR', 'file: must be text in UTF-8')
  }
}

// Runs an import: counts the lines of its file, then stores them chunk by chunk. Each chunk commits together with its progress, so that
// another process can resume there.
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { codeOf } from '../../core/errors.ts'
import { announceChange, subject } from '../../events/live/follow.ts'
import { markEnded, saveProgress, takeTurn } from '../bulk/bulk.sql.ts'
import { endJob } from '../bulk/service.ts'
import { importLines } from './chunk.ts'
import { lockImport, readImport, saveCount } from './import.sql.ts'
import { FileFault, type FileRecord, readRecords } from './read.ts'
import { type Columns, columnsOf } from './rows.ts'

const maxLines = 100_000

/** Lines per transaction, and the characters that end it earlier; a cell counts as one more. */
const chunkLines = 500
const chunkCharacters = 1_000_000

/** Works until the import has ended. Returns an Error if another try has to go on. */
export async function workThroughImport(app: App, id: string): Promise<Error | undefined> {
  let job = await readImport(app.pool, id)
  if (!job) return undefined
  if (job.requestedCount === 0) {
    await countLines(app, id)
    job = await readImport(app.pool, id)
    if (!job) return undefined
  }
  for await (const { from, lines, columns } of chunksOf(app, id, job.processedCount, job.options.mapping ?? {})) {
    if (app.stopping) return new Error('handed back')
    const outcome = await storeChunk(app, id, from, lines, columns, job.options.onConflict ?? 'skip')
    app.signals.emit('outbox')
    if (outcome !== 'more') return outcome === 'ended' ? undefined : new Error('another process continues')
  }
  return undefined
}

/** Reads the whole file before anything is stored, so that a file with a fault changes nothing. */
async function countLines(app: App, id: string): Promise<void> {
  let count = -1
  let fault: FileFault | undefined
  try {
    for await (const { line } of readRecords(app, id)) {
      if (++count <= maxLines) continue
      fault = new FileFault(line, `must have at most ${maxLines} lines besides that of the titles`)
      break
    }
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    fault = error
  }
  await sqlTransaction(app.pool, async (tx) => {
    await takeTurn(tx, id)
    const job = await lockImport(tx, id)
    if (!job || job.requestedCount > 0) return
    const invalid = fault ? [{ line: fault.line, field: 'file', message: fault.message }] : []
    await saveCount(tx, id, fault ? 0 : Math.max(count, 0), { ...job.summary, invalid })
    if (fault) await markEnded(tx, id, 'VALIDATION_ERROR')
    else if (count <= 0) await markEnded(tx, id, null)
    await announceChange(tx, subject('bulkJob', id))
  })
}

interface Chunk {
  /** Number of lines before it. */
  from: number
  lines: FileRecord[]
  columns: Columns
}

/** The lines of the file after the first `skipped`. */
async function* chunksOf(
  app: App,
  id: string,
  skipped: number,
  mapping: Readonly<Record<string, string>>,
): AsyncGenerator<Chunk> {
  let columns: Columns | undefined
  let seen = 0
  let lines: FileRecord[] = []
  let characters = 0
  for await (const record of readRecords(app, id)) {
    if (!columns) {
      columns = columnsOf(record.cells, mapping)
      continue
    }
    if (++seen <= skipped) continue
    lines.push(record)
    for (const cell of record.cells) characters += cell.length + 1
    if (lines.length < chunkLines && characters < chunkCharacters) continue
    yield { from: seen - lines.length, lines, columns }
    lines = []
    characters = 0
  }
  if (columns && lines.length > 0) yield { from: seen - lines.length, lines, columns }
}

/** Stores the lines together with the job's progress. If they are refused, nothing of them stays, and the job ends. */
async function storeChunk(
  app: App,
  id: string,
  from: number,
  lines: readonly FileRecord[],
  columns: Columns,
  onConflict: 'skip' | 'update',
): Promise<'more' | 'ended' | 'overtaken'> {
  try {
    return await sqlTransaction(app.pool, async (tx) => {
      // A second worker or a cancellation runs before the chunk or after it.
      await takeTurn(tx, id)
      const job = await lockImport(tx, id)
      if (!job) return 'ended'
      if (job.processedCount !== from) return 'overtaken'
      const summary = await importLines(tx, job, lines, columns, onConflict)
      await app.failpoint('import.mid_chunk')
      const processed = from + lines.length
      await saveProgress(tx, id, processed, summary)
      const hasEnded = processed >= job.requestedCount
      if (hasEnded) await endJob(tx, id, null)
      else await announceChange(tx, subject('bulkJob', id))
      return hasEnded ? 'ended' : 'more'
    })
  } catch (error) {
    const code = codeOf(error)
    if (!code) throw error
    // The group is locked after the contacts, so its deletion is noticed only when they are stored; the rollback has removed them.
    await sqlTransaction(app.pool, async (tx) => {
      await takeTurn(tx, id)
      await endJob(tx, id, code)
    })
    return 'ended'
  }
}

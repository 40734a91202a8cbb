// Erases the stored results of requests whose records were erased or have expired. Such a request is answered like one for a deleted record
// when it is repeated.
import { deserialize, serialize } from 'node:v8'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { ownTurn } from '../turns.ts'
import type { Kept } from './idempotency.ts'
import { readResults, replaceResults } from './keys.sql.ts'

/** Results per statement. They are encrypted, so each one is opened to see what it contains. */
const batchSize = 500

/** Returns those of some stored records that are erased. */
type Choose = (records: readonly object[]) => readonly object[] | Promise<readonly object[]>

/**
 * Replaces those results of the workspace that contain `text`, in ASCII, and that are records which `choose` returns. Each batch commits by
 * itself.
 */
export async function forgetResults(app: App, workspaceId: string, text: string, choose: Choose): Promise<void> {
  const gone: Kept = { ok: false, code: 'NOT_FOUND', message: errors.NOT_FOUND.message }
  const result = app.sealer.seal(serialize(gone))
  for (let after = ''; ; ) {
    const rows = await readResults(app.pool, workspaceId, after, batchSize)
    const found = rows.flatMap(({ key, createdAt, result }) => {
      const record = recordIn(app.sealer.tryOpen(result), text)
      return record ? [{ key, createdAt, record }] : []
    })
    const erased = new Set(await choose(found.map(({ record }) => record)))
    const keys = found.filter(({ record }) => erased.has(record))
    // A key may have expired meanwhile, and have the result of another request.
    if (keys.length > 0) await replaceResults(app.pool, workspaceId, keys, result)
    const last = rows.at(-1)
    if (!last || rows.length < batchSize) return
    after = last.key
    await ownTurn()
  }
}

/** The record in an opened result that contains `text`; null for other results. */
function recordIn(result: Buffer | undefined, text: string): object | null {
  // The serializer writes ASCII as it is.
  if (!result?.includes(text)) return null
  const kept = deserialize(result) as Kept
  return kept.ok && typeof kept.value === 'object' ? kept.value : null
}

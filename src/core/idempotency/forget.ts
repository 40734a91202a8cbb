// Erases the stored results of requests whose records were erased: repeated, they are answered like a request for a deleted record.
import { deserialize, serialize } from 'node:v8'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { ownTurn } from '../turns.ts'
import { type Kept, keptHours } from './idempotency.ts'
import { readResults, storeResults } from './keys.sql.ts'

/** Results per statement. They are encrypted, so each one is opened to see what it contains. */
const batchSize = 500

/**
 * Replaces those results of the workspace that contain `text`, in ASCII, and that are records for which `isErased` is true. Each batch
 * commits by itself.
 */
export async function forgetResults(
  app: App,
  workspaceId: string,
  text: string,
  isErased: (value: object) => boolean,
): Promise<void> {
  const gone: Kept = { ok: false, code: 'NOT_FOUND', message: errors.NOT_FOUND.message }
  const result = app.sealer.seal(serialize(gone))
  for (let after = ''; ; ) {
    const rows = await readResults(app.pool, workspaceId, after, batchSize, keptHours)
    const erased = rows.filter((row) => {
      const value = valueIn(app.sealer.tryOpen(row.result), text)
      return value !== null && isErased(value)
    })
    if (erased.length > 0)
      await storeResults(
        app.pool,
        erased.map(({ key }) => ({ workspaceId, key, result })),
      )
    const last = rows.at(-1)
    if (!last || rows.length < batchSize) return
    after = last.key
    await ownTurn()
  }
}

/** The record in an opened result that contains `text`; null for other results. */
function valueIn(result: Buffer | undefined, text: string): object | null {
  // The serializer writes ASCII as it is.
  if (!result?.includes(text)) return null
  const kept = deserialize(result) as Kept
  return kept.ok && typeof kept.value === 'object' ? kept.value : null
}

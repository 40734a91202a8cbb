// Deletes messages that are locked, with what the networks' own tables hold of them.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { providers } from '../../providers/providers.ts'
import { deleteRows, readDeleted } from './retention.sql.ts'

export async function deleteMessages(app: App, tx: Sql, ids: readonly string[]): Promise<void> {
  const messages = await readDeleted(tx, ids)
  for (const provider of providers(app).values()) await provider.forget?.(messages, tx)
  await deleteRows(tx, ids)
}

// Whether SECRET_KEY is the one that this database's secrets were sealed with.
import { opensSigningKey } from '../accounts/sign-in/signing-key.ts'
import type { Sql } from '../core/database/database.ts'
import { createSealer } from '../core/seal.ts'

/** What an operator is told where it is not. */
export const foreignKey = 'SECRET_KEY is not the one that stored secrets were sealed with; put the right one back'

/** Looks at the newest of each kind; undefined where nothing is sealed yet. */
export async function opensStored(sql: Sql, secretKey: Buffer): Promise<boolean | undefined> {
  const opened = [await opensWebhookSecret(sql, secretKey), await opensSigningKey(sql, secretKey)]
  if (opened.includes(false)) return false
  return opened.includes(true) || undefined
}

/** Undefined where no endpoint has one. */
async function opensWebhookSecret(sql: Sql, secretKey: Buffer): Promise<boolean | undefined> {
  const { rows } = await sql.query<{ secret: Buffer }>(
    `select secret from webhook_endpoints where "deletedAt" is null order by "createdAt" desc limit 1`,
  )
  return rows[0] && createSealer(secretKey).tryOpen(rows[0].secret) !== undefined
}

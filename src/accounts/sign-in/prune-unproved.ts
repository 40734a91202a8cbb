// Deletes accounts whose address was never verified, so that an address that somebody else signed up with is free again.
import type pg from 'pg'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'

const keptDays = 7
const pageSize = 500

/** SQLSTATEs of a delete that a foreign key rejects: 23503 up to PostgreSQL 17, 23001 since. */
const isReferred = new Set(['23503', '23001'])

/** Deletes unverified accounts older than a week that have no session and own nothing. Returns how many. */
export async function pruneUnproved(pool: pg.Pool): Promise<number> {
  let deleted = 0
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const { rows } = await pool.query<{ id: string }>(
      `select u.id from users u where not u."emailVerified" and u."createdAt" < now() - make_interval(days => $1) and u.id > $2
         and not exists (select from auth_sessions s where s."userId" = u.id)
         and not exists (select from api_keys k where k."userId" = u.id) order by u.id limit $3`,
      [keptDays, after, pageSize],
    )
    for (const { id } of rows) if (await sqlTransaction(pool, (tx) => forget(tx, id)).catch(isInUse)) deleted++
    if (rows.length < pageSize) return deleted
    after = rows.at(-1)?.id as string
  }
}

/**
 * Returns true if the account was deleted, false if its address was verified in the meantime. Everything that an account may own has a
 * foreign key to the user or to the workspace, and that key rejects the delete.
 */
async function forget(tx: Sql, userId: string): Promise<boolean> {
  const { rowCount } = await tx.query('select from users where id = $1 and not "emailVerified" for update', [userId])
  if (!rowCount) return false
  await tx.query('delete from workspaces where "ownerId" = $1', [userId])
  await tx.query('delete from subscriptions where "userId" = $1', [userId])
  await tx.query('delete from users where id = $1', [userId])
  return true
}

function isInUse(error: { code?: string }): false {
  if (isReferred.has(error.code ?? '')) return false
  throw error
}

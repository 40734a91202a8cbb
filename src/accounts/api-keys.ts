// API keys: shown once, kept as a digest.
import { createHash, randomBytes } from 'node:crypto'
import type pg from 'pg'
import type { Sql } from '../core/database.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'

export interface NewApiKey {
  userId: string
  workspaceId: string
  /** Set for a team's key. */
  teamId?: string
  name: string
  /** The whole key, where it is not to be made here. */
  key?: string
}

export interface IssuedApiKey {
  id: string
  name: string
  /** The part that lists show. */
  prefix: string
  /** The whole key, which nobody can read again. */
  key: string
}

/** What `api_keys.hash` holds: SHA-256, 32 bytes. The key has 256 random bits, so nothing slower is needed. */
export function keyHash(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** Makes a key in the caller's transaction. */
export async function issueApiKey(tx: Sql, key: NewApiKey): Promise<IssuedApiKey> {
  const id = newId()
  const secret = key.key ?? `${key.teamId ? 'svc_team_' : 'svc_live_'}${randomBytes(32).toString('hex')}`
  const prefix = secret.slice(0, 16)
  await tx.query(
    `insert into api_keys (id, "userId", "workspaceId", "teamId", name, prefix, hash) values ($1, $2, $3, $4, $5, $6, $7)`,
    [id, key.userId, key.workspaceId, key.teamId ?? null, key.name, prefix, keyHash(secret)],
  )
  return { id, name: key.name, prefix, key: secret }
}

/** A further key of the account's personal workspace. @throws NOT_FOUND for an unknown address. */
export async function createApiKey(pool: pg.Pool, input: { email: string; name: string }): Promise<IssuedApiKey> {
  const { rows } = await pool.query<{ userId: string; workspaceId: string }>(
    `select u.id as "userId", w.id as "workspaceId" from users u
      join workspaces w on w."ownerId" = u.id and not exists (select from teams t where t."workspaceId" = w.id)
      where u.email = lower($1)`,
    [input.email],
  )
  const owner = rows[0] ?? fail('NOT_FOUND', `There is no account with the e-mail address ${input.email}`)
  return await issueApiKey(pool, { ...owner, name: input.name })
}

/** Refused everywhere from the next request on. Revoking it again changes nothing. @throws NOT_FOUND for an unknown id. */
export async function revokeApiKey(pool: pg.Pool, id: string): Promise<void> {
  const { rowCount } = await pool.query(
    `update api_keys set "revokedAt" = coalesce("revokedAt", now()) where id::text = lower($1)`,
    [id],
  )
  if (!rowCount) fail('NOT_FOUND', `There is no API key with the id ${id}`)
}

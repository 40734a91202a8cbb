// API keys: shown once, kept as a digest.
import { createHash, randomBytes } from 'node:crypto'
import type pg from 'pg'
import { z } from 'zod'
import { type Sql, transaction } from '../../core/database/database.ts'
import { fail } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import { parse, text } from '../../core/validation.ts'
import { userIdOf } from '../find-user.ts'
import { ownWorkspaceOf } from '../own-workspace.ts'

export interface NewApiKey {
  userId: string
  workspaceId: string
  /** Set for a team's key. */
  teamId?: string
  name: string
  /** The whole key, where it is not to be made here. */
  key?: string
}

/** A key as lists show it. */
export interface ApiKeyRow {
  id: string
  name: string
  /** The part that lists show. */
  prefix: string
  createdAt: Date
  lastUsedAt: Date | null
}

export interface IssuedApiKey extends ApiKeyRow {
  /** The whole key, which nobody can read again. */
  key: string
}

/** What {@link ApiKeyRow} needs, as SQL. */
export const keyColumns = 'id, name, prefix, "createdAt", "lastUsedAt"'

/** What `api_keys.hash` holds: SHA-256, 32 bytes. The key has 256 random bits, so nothing slower is needed. */
export function keyHash(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** Makes a key in the caller's transaction. */
export async function issueApiKey(tx: Sql, key: NewApiKey): Promise<IssuedApiKey> {
  const id = newId()
  const secret = key.key ?? `${key.teamId ? 'svc_team_' : 'svc_live_'}${randomBytes(32).toString('hex')}`
  const prefix = secret.slice(0, 16)
  const { rows } = await tx.query<ApiKeyRow>(
    `insert into api_keys (id, "userId", "workspaceId", "teamId", name, prefix, hash) values ($1, $2, $3, $4, $5, $6, $7)
     returning ${keyColumns}`,
    [id, key.userId, key.workspaceId, key.teamId ?? null, key.name, prefix, keyHash(secret)],
  )
  return { ...(rows[0] as ApiKeyRow), key: secret }
}

/**
 * Makes a key unless its owner, the person or the team, has `max` of them that hold. Exact where the caller holds a row that
 * stands for that owner. @throws MAX_API_KEYS_REACHED.
 */
export async function issueApiKeyWithin(tx: Sql, max: number, key: NewApiKey): Promise<IssuedApiKey> {
  const { rows } = await tx.query<{ n: number }>(
    `select count(*)::int as n from api_keys where "workspaceId" = $1 and "revokedAt" is null`,
    [key.workspaceId],
  )
  if ((rows[0]?.n ?? 0) >= max) fail('MAX_API_KEYS_REACHED')
  return await issueApiKey(tx, key)
}

/** The keys of a person's own workspace that hold, oldest first. */
export async function listApiKeys(tx: Sql, userId: string): Promise<ApiKeyRow[]> {
  const { rows } = await tx.query<ApiKeyRow>(
    `select ${keyColumns} from api_keys where "userId" = $1 and "teamId" is null and "revokedAt" is null order by "createdAt", id`,
    [userId],
  )
  return rows
}

/** {@link listApiKeys} of the account with that address. @throws NOT_FOUND for an unknown one. */
export async function listKeysOf(pool: pg.Pool, email: string): Promise<ApiKeyRow[]> {
  return await listApiKeys(pool, await userIdOf(pool, email))
}

const newKey = z.object({ email: z.string(), name: text(1, 100) })

/** A further key of the account's personal workspace. @throws VALIDATION_ERROR, NOT_FOUND for an unknown address. */
export async function createApiKey(pool: pg.Pool, input: z.input<typeof newKey>): Promise<IssuedApiKey> {
  const { email, name } = parse(newKey, input)
  return await transaction(pool, async (tx) => {
    const userId = await userIdOf(tx, email)
    return await issueApiKey(tx, { userId, workspaceId: await ownWorkspaceOf(tx, userId), name })
  })
}

/** Refused everywhere from the next request on. Revoking it again changes nothing. @throws NOT_FOUND for an unknown id. */
export async function revokeApiKey(pool: pg.Pool, id: string): Promise<void> {
  const { rowCount } = await pool.query(
    `update api_keys set "revokedAt" = coalesce("revokedAt", now()) where id::text = lower($1)`,
    [id],
  )
  if (!rowCount) fail('NOT_FOUND', `There is no API key with the id ${id}`)
}

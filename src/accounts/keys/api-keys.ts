// API keys: shown once at creation, stored only as a SHA-256 digest.
import { createHash, randomBytes } from 'node:crypto'
import type pg from 'pg'
import { z } from 'zod'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { fail } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import { parse, text } from '../../core/validation.ts'
import { userIdOf } from '../find-user.ts'
import { ownWorkspaceOf } from '../own-workspace.ts'

export interface NewApiKey {
  userId: string
  workspaceId: string
  /** Set for a team key. */
  teamId?: string
  name: string
  /** The whole key, if the caller supplies it instead of having one generated. */
  key?: string
}

/** An API key as lists show it: without the secret. */
export interface ApiKeyRow {
  id: string
  name: string
  /** The first 16 characters of the key, shown in lists. */
  prefix: string
  createdAt: Date
  lastUsedAt: Date | null
}

export interface IssuedApiKey extends ApiKeyRow {
  /** The whole key. It is returned only here and cannot be read again. */
  key: string
}

/** SQL: the columns of {@link ApiKeyRow}. */
export const keyColumns = 'id, name, prefix, "createdAt", "lastUsedAt"'

/** Returns the value of `api_keys.hash`: SHA-256, 32 bytes. The key has 256 random bits, so it needs no slow hash. */
export function keyHash(key: string): Buffer<ArrayBuffer> {
  return createHash('sha256').update(key).digest()
}

/** Inserts a key in the caller's transaction. */
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
 * Inserts a key unless the workspace already has `max` active keys. Exact if the caller has locked a row that stands for the owner (a
 * person or a team), such as the owner's subscription.
 * @throws MAX_API_KEYS_REACHED when the workspace has `max` active keys.
 */
export async function issueApiKeyWithin(tx: Sql, max: number, key: NewApiKey): Promise<IssuedApiKey> {
  const { rows } = await tx.query<{ n: number }>(
    `select count(*)::int as n from api_keys where "workspaceId" = $1 and "revokedAt" is null`,
    [key.workspaceId],
  )
  if ((rows[0]?.n ?? 0) >= max) fail('MAX_API_KEYS_REACHED')
  return await issueApiKey(tx, key)
}

/** Returns the active keys of a person's own workspace, oldest first. */
export async function listApiKeys(tx: Sql, userId: string): Promise<ApiKeyRow[]> {
  const { rows } = await tx.query<ApiKeyRow>(
    `select ${keyColumns} from api_keys where "userId" = $1 and "teamId" is null and "revokedAt" is null order by "createdAt", id`,
    [userId],
  )
  return rows
}

/** {@link listApiKeys} for the account with that address. @throws NOT_FOUND when the address is unknown. */
export async function listKeysOf(pool: pg.Pool, email: string): Promise<ApiKeyRow[]> {
  return await listApiKeys(pool, await userIdOf(pool, email))
}

const newKey = z.object({ email: z.string(), name: text(1, 100) })

/**
 * Adds a key to the account's personal workspace, without a limit check.
 * @throws VALIDATION_ERROR when the input is invalid; NOT_FOUND when the address is unknown.
 */
export async function createApiKey(pool: pg.Pool, input: z.input<typeof newKey>): Promise<IssuedApiKey> {
  const { email, name } = parse(newKey, input)
  return await sqlTransaction(pool, async (tx) => {
    const userId = await userIdOf(tx, email)
    return await issueApiKey(tx, { userId, workspaceId: await ownWorkspaceOf(tx, userId), name })
  })
}

/** Makes the key invalid from the next request on. Idempotent. @throws NOT_FOUND when the id is unknown. */
export async function revokeApiKey(pool: pg.Pool, id: string): Promise<void> {
  const { rowCount } = await pool.query(
    `update api_keys set "revokedAt" = coalesce("revokedAt", now()) where id::text = lower($1)`,
    [id],
  )
  if (!rowCount) fail('NOT_FOUND', `No API key has the id ${id}`)
}

// API keys: shown once at creation, stored only as a SHA-256 digest.
import { hash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Context } from '../../core/context.ts'
import { countedWorkspaces } from '../../core/counted-workspaces.ts'
import type { Db } from '../../core/database/database.ts'
import { type Tx, transaction } from '../../core/database/transaction.ts'
import { fail } from '../../core/errors.ts'
import { loadFound } from '../../core/graph/load.ts'
import { newId } from '../../core/id.ts'
import { nameOf, parse, uuid } from '../../core/validation.ts'
import type { ApiKey, Prisma } from '../../generated/prisma/client.ts'
import { KeyAccess } from '../../generated/prisma/enums.ts'
import { userIdOf } from '../find-user.ts'
import { ownWorkspaceOf } from '../own-workspace.ts'

export interface NewApiKey {
  userId: string
  workspaceId: string
  /** Set for a team key. */
  teamId?: string
  name: string
  access?: KeyAccess
  /** The whole key, if the caller supplies it instead of having one generated. */
  key?: string
}

/** An API key as lists show it: without the secret. `prefix` is the first 16 characters of the key. */
export type ApiKeyRow = Pick<ApiKey, keyof typeof keyFields>

export interface IssuedApiKey extends ApiKeyRow {
  /** The whole key. It is returned only here and cannot be read again. */
  key: string
}

/** The fields of an {@link ApiKeyRow}, and the keys that are active, oldest first. */
export const keyFields = { id: true, name: true, prefix: true, access: true, createdAt: true, lastUsedAt: true } as const
export const activeKeys = {
  where: { revokedAt: null },
  select: keyFields,
  orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
} satisfies Prisma.ApiKeyFindManyArgs

/** Returns the value of `api_keys.hash`: SHA-256, 32 bytes. The key has 256 random bits, so it needs no slow hash. */
export function keyHash(key: string): Buffer<ArrayBuffer> {
  return hash('sha256', key, 'buffer') as Buffer<ArrayBuffer>
}

/** Inserts a key in the caller's transaction. */
export async function issueApiKey({ db }: Tx, { key: given, ...key }: NewApiKey): Promise<IssuedApiKey> {
  const secret = given ?? `${key.teamId ? 'svc_team_' : 'svc_live_'}${randomBytes(32).toString('hex')}`
  const data = { ...key, id: newId(), prefix: secret.slice(0, 16), hash: keyHash(secret) }
  return { ...(await db.apiKey.create({ data, select: keyFields })), key: secret }
}

/** The keys in all workspaces that count against the plan of that account. */
export async function countKeys(db: Prisma.TransactionClient, ownerId: string): Promise<number> {
  return await db.apiKey.count({ where: { revokedAt: null, workspace: countedWorkspaces(ownerId) } })
}

/**
 * Inserts a key unless the workspaces that the owner's plan pays for have `max` active keys together. Exact if the caller has locked the
 * owner's subscription.
 * @throws MAX_API_KEYS_REACHED when they have as many.
 */
export async function issueApiKeyWithin(tx: Tx, ownerId: string, max: number, key: NewApiKey): Promise<IssuedApiKey> {
  if ((await countKeys(tx.db, ownerId)) >= max) fail('MAX_API_KEYS_REACHED')
  return await issueApiKey(tx, key)
}

/** Makes the active keys among those of `where` invalid from the next request on. Returns how many. */
export async function revokeKeys({ db }: Tx, where: Prisma.ApiKeyWhereInput): Promise<number> {
  const { count } = await db.apiKey.updateMany({ where: { ...where, revokedAt: null }, data: { revokedAt: new Date() } })
  return count
}

/** Returns the active keys of a person's own workspace, oldest first. */
export async function listApiKeys(db: Prisma.TransactionClient, userId: string): Promise<ApiKeyRow[]> {
  return await db.apiKey.findMany({ ...activeKeys, where: { ...activeKeys.where, userId, teamId: null } })
}

/** {@link listApiKeys} for the account with that address. @throws NOT_FOUND when the address is unknown. */
export async function listKeysOf(db: Db, email: string): Promise<ApiKeyRow[]> {
  return await listApiKeys(db, await userIdOf(db, email))
}

type KeyOrigin = Pick<ApiKey, 'id' | 'userId' | 'revokedAt'>

/** Returns the person who created a key, and the time of its revocation. Returns null for an unknown key. */
export async function originOfKey(ctx: Context, id: string): Promise<KeyOrigin | null> {
  return await loadFound(ctx, 'origins of keys', id, null, async (ids) => {
    const where = { id: { in: [...ids] } }
    const rows = await ctx.app.db.apiKey.findMany({ where, select: { id: true, userId: true, revokedAt: true } })
    return new Map(rows.map((row) => [row.id, row]))
  })
}

const newKey = z.object({ email: z.string(), name: nameOf(100), access: z.enum(KeyAccess).default('full') })

/**
 * Adds a key to the account's personal workspace, without a limit check.
 * @throws VALIDATION_ERROR when the input is invalid; NOT_FOUND when the address is unknown.
 */
export async function createApiKey(db: Db, input: z.input<typeof newKey>): Promise<IssuedApiKey> {
  const { email, name, access } = parse(newKey, input)
  return await transaction(db, async (tx) => {
    const userId = await userIdOf(tx.db, email)
    return await issueApiKey(tx, { userId, workspaceId: await ownWorkspaceOf(tx, userId), name, access })
  })
}

/** Makes the key invalid from the next request on. Idempotent. @throws NOT_FOUND when the id is unknown. */
export async function revokeApiKey(db: Db, id: string): Promise<void> {
  const known = uuid.safeParse(id).data
  await transaction(db, async (tx) => {
    if (!known || (await tx.db.apiKey.count({ where: { id: known } })) === 0) fail('NOT_FOUND', `No API key has the id ${id}`)
    await revokeKeys(tx, { id: known })
  })
}

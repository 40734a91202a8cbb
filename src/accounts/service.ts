// Accounts: a user with a personal workspace, a subscription and a first key.
import type pg from 'pg'
import { z } from 'zod'
import type { Sql } from '../core/database/database.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { parse, text } from '../core/validation.ts'
import { email } from './email.ts'
import { userIdOf } from './find-user.ts'
import { issueApiKey } from './keys/api-keys.ts'
import { openAccountIn } from './open-account.ts'
import { hashPassword } from './sign-in/password.ts'
import { proveAddress, type RevokeInvitations } from './sign-in/prove-address.ts'
import { lockUser, replacePassword } from './sign-in/replace-password.ts'

export { email, mailboxOf } from './email.ts'
export { personOf, userIdOf } from './find-user.ts'
export {
  type ApiKeyRow,
  createApiKey,
  type IssuedApiKey,
  issueApiKey,
  issueApiKeyWithin,
  keyColumns,
  keyHash,
  listApiKeys,
  listKeysOf,
  revokeApiKey,
} from './keys/api-keys.ts'
export { openAccount } from './open-account.ts'
export { isPersonal } from './own-workspace.ts'

const newAccount = z.object({
  email,
  name: text(1, 100),
  /** A code of the plan catalogue. The caller checks that it exists. */
  plan: z.string(),
  password: text(10, 128).optional(),
})
export type NewAccount = z.input<typeof newAccount>

export interface CreatedAccount {
  userId: string
  workspaceId: string
  email: string
  apiKey: string
}

/** Creates a verified account, all or nothing. @throws VALIDATION_ERROR when the input is invalid; CONFLICT when the address is taken. */
export async function createAccount(pool: pg.Pool, input: NewAccount): Promise<CreatedAccount> {
  return await sqlTransaction(pool, (tx) => insertAccount(tx, input))
}

/** {@link createAccount} in the caller's transaction. `firstKey` is used as the first key instead of a generated one. */
export async function insertAccount(tx: Sql, input: NewAccount, firstKey?: string): Promise<CreatedAccount> {
  const { email, name, plan, password } = parse(newAccount, input)
  const userId = newId()
  const hash = password === undefined ? null : await hashPassword(password)
  const { rowCount } = await tx.query(
    `insert into users (id, email, name, "emailVerified") values ($1, $2, $3, true) on conflict (email) do nothing`,
    [userId, email, name],
  )
  if (!rowCount) fail('CONFLICT', `An account with the e-mail address ${email} already exists`)
  if (hash) {
    await tx.query(
      `insert into auth_accounts (id, "userId", "providerId", "accountId", password) values ($1, $2, 'credential', $3, $4)`,
      [newId(), userId, userId, hash],
    )
  }
  const workspaceId = (await openAccountIn(tx, userId, plan)) as string
  const { key } = await issueApiKey(tx, { userId, workspaceId, name: 'First key', key: firstKey })
  return { userId, workspaceId, email, apiKey: key }
}

export interface ListedAccount {
  userId: string
  email: string
  name: string
  /** Null, like `status`, if a process died between creating the user and the subscription. The next request with a session creates it. */
  plan: string | null
  status: string | null
  createdAt: Date
}

/** Returns all accounts, oldest first. */
export async function listAccounts(pool: pg.Pool): Promise<ListedAccount[]> {
  const { rows } = await pool.query<ListedAccount>(
    `select u.id as "userId", u.email, u.name, s.plan, s.status::text as status, u."createdAt"
      from users u left join subscriptions s on s."userId" = u.id order by u."createdAt", u.id`,
  )
  return rows
}

/** Sets a password and ends all sessions. @throws VALIDATION_ERROR when the input is invalid; NOT_FOUND when the address is unknown. */
export async function setPassword(pool: pg.Pool, input: { email: string; password: string }): Promise<void> {
  const { email, password } = parse(newAccount.pick({ email: true, password: true }).required(), input)
  const hash = await hashPassword(password)
  await sqlTransaction(pool, async (tx) => {
    const userId = await userIdOf(tx, email)
    await lockUser(tx, userId)
    await replacePassword(tx, { userId, email, hash })
  })
}

/**
 * Marks an address as verified, and revokes what was created with the account before; see `proveAddress`. Does nothing if it is verified.
 * @throws NOT_FOUND when the address is unknown.
 */
export async function verifyAccount(
  pool: pg.Pool,
  { email }: { email: string },
  revokeInvitations: RevokeInvitations,
): Promise<void> {
  await sqlTransaction(pool, async (tx) => {
    const userId = await userIdOf(tx, email)
    await lockUser(tx, userId)
    const { rowCount } = await tx.query('select from users where id = $1 and not "emailVerified"', [userId])
    if (rowCount) await proveAddress(tx, userId, revokeInvitations)
  })
}

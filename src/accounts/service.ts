// Accounts: a user with a personal workspace, a subscription and a first key.
import { z } from 'zod'
import type { Db } from '../core/database/database.ts'
import { type Tx, transaction } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { nameOf, parse } from '../core/validation.ts'
import { insertCredential } from './credential.ts'
import { email } from './email.ts'
import { password } from './fields.ts'
import { lockAccountOf } from './find-user.ts'
import { issueApiKey } from './keys/api-keys.ts'
import { openAccountIn } from './open-account.ts'
import { hashPassword } from './sign-in/password.ts'
import { proveAddress, type RevokeInvitations } from './sign-in/prove-address.ts'
import { replacePassword } from './sign-in/replace-password.ts'

const newAccount = z.object({
  email,
  name: nameOf(100),
  /** A code of the plan catalogue. The caller checks that it exists. */
  plan: z.string(),
  password: password.optional(),
})
export type NewAccount = z.input<typeof newAccount>

export interface CreatedAccount {
  userId: string
  workspaceId: string
  email: string
  apiKey: string
}

/** Creates a verified account, all or nothing. @throws VALIDATION_ERROR when the input is invalid; CONFLICT when the address is taken. */
export async function createAccount(db: Db, input: NewAccount): Promise<CreatedAccount> {
  const { password, ...account } = parse(newAccount, input)
  // Hashes before the transaction, because hashing may wait for its turn.
  const hash = password === undefined ? undefined : await hashPassword(password)
  return await transaction(db, (tx) => insertAccount(tx, { ...account, hash }))
}

interface VerifiedAccount extends Omit<z.output<typeof newAccount>, 'password'> {
  hash?: string
  /** Used as the first key instead of a generated one. */
  firstKey?: string
}

/** {@link createAccount} in the caller's transaction, with input that is valid. @throws CONFLICT when the address is taken. */
export async function insertAccount(tx: Tx, { email, name, plan, hash, firstKey }: VerifiedAccount): Promise<CreatedAccount> {
  const userId = newId()
  const user = { id: userId, email, name, emailVerified: true }
  const { count } = await tx.db.user.createMany({ data: user, skipDuplicates: true })
  if (count === 0) fail('CONFLICT', `An account with the e-mail address ${email} already exists`)
  if (hash) await insertCredential(tx, userId, hash)
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

/** Returns all accounts that have not ended, oldest first. */
export async function listAccounts(db: Db): Promise<ListedAccount[]> {
  const users = await db.user.findMany({
    where: { endedAt: null },
    select: { id: true, email: true, name: true, subscription: { select: { plan: true, status: true } }, createdAt: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  return users.map(({ id, email, name, subscription, createdAt }) => {
    const { plan = null, status = null } = subscription ?? {}
    return { userId: id, email, name, plan, status, createdAt }
  })
}

/** Sets a password and ends all sessions. @throws VALIDATION_ERROR when the input is invalid; NOT_FOUND when the address is unknown. */
export async function setPassword(db: Db, input: { email: string; password: string }): Promise<void> {
  const { email, password } = parse(newAccount.pick({ email: true, password: true }).required(), input)
  const hash = await hashPassword(password)
  await transaction(db, async (tx) => {
    const { id: userId } = await lockAccountOf(tx, email)
    await replacePassword(tx, { userId, email, hash })
  })
}

/**
 * Marks an address as verified, and revokes what was created with the account before; see `proveAddress`. Does nothing if it is verified.
 * @throws NOT_FOUND when the address is unknown.
 */
export async function verifyAccount(db: Db, { email }: { email: string }, revokeInvitations: RevokeInvitations): Promise<void> {
  await transaction(db, async (tx) => {
    const { id, emailVerified } = await lockAccountOf(tx, email)
    if (!emailVerified) await proveAddress(tx, id, revokeInvitations)
  })
}

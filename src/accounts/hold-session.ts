// Holds the session of a request that creates what outlives the session: keys and invitations.
import type { Sql } from '../core/database/database.ts'
import { fail, invalidToken } from '../core/errors.ts'
import type { Principal } from '../core/principal.ts'
import { lockSession } from './sign-in/sessions.sql.ts'

/**
 * Locks the session of the caller, a person, for the transaction. A new password by mail ends the sessions first, and revokes keys and
 * invitations then (`proveAddress`): it waits for this transaction and revokes what it creates, or it came first and this one is refused.
 * Locks of the subscription and the team come before this one.
 * @throws UNAUTHORIZED when the session has ended.
 */
export async function holdSession(tx: Sql, { credentialId }: Pick<Principal, 'credentialId'>): Promise<void> {
  if (!(await lockSession(tx, credentialId))) fail('UNAUTHORIZED', invalidToken)
}

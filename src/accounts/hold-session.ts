// Locks the session of a request that creates a key or an invitation, both of which outlive the session.
import type { Sql } from '../core/database/database.ts'
import { fail, invalidToken } from '../core/errors.ts'
import type { Principal } from '../core/principal.ts'
import { lockSession } from './sign-in/sessions.sql.ts'

/**
 * Locks the session of the caller, a person, until the transaction ends. A new password by mail (`proveAddress`) deletes the sessions and then
 * revokes keys and invitations. If it comes later, it waits for this transaction and revokes what was created; if it came first, this request
 * is refused. Lock the subscription and the team before.
 * @throws UNAUTHORIZED when the session has ended.
 */
export async function holdSession(tx: Sql, { credentialId }: Pick<Principal, 'credentialId'>): Promise<void> {
  if (!(await lockSession(tx, credentialId))) fail('UNAUTHORIZED', invalidToken)
}

// Checks the caller of a long request again: one that takes a file in, or reads one out.
import { isValidCredential } from '../accounts/credentials.sql.ts'
import type { Context } from '../core/context.ts'
import { fail, invalidToken } from '../core/errors.ts'
import { readRoles } from './memberships.sql.ts'

/**
 * @throws UNAUTHORIZED when the key was revoked or the session has ended; TEAM_NOT_FOUND when the person is not in the team any more, or
 * it was deleted.
 */
export async function checkCaller({ app: { pool }, principal }: Pick<Context, 'app' | 'principal'>): Promise<void> {
  const { kind, credentialId, userId, teamId } = principal
  const isPerson = kind === 'console'
  if (!(await isValidCredential(pool, credentialId))) fail('UNAUTHORIZED', isPerson ? invalidToken : undefined)
  if (isPerson && teamId !== null && !(await readRoles(pool, [{ teamId, userId }]))[0]) fail('TEAM_NOT_FOUND')
}

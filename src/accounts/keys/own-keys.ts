// API keys of a signed-in person: creation within the plan's limit, and revocation.
import type { Context } from '../../core/context.ts'
import { fail } from '../../core/errors.ts'
import { write } from '../../core/idempotency/idempotency.ts'
import { holdSession } from '../hold-session.ts'
import { ownWorkspaceOf } from '../own-workspace.ts'
import { type IssuedApiKey, issueApiKeyWithin, type NewApiKey, revokeKeys } from './api-keys.ts'

/**
 * Adds a key to the person's own workspace, on their own subscription, whichever workspace the request is for.
 * @throws SUBSCRIPTION_INACTIVE when the subscription is inactive; MAX_API_KEYS_REACHED when the limit is reached, exact under a race; as
 * {@link holdSession}.
 */
export async function createOwnApiKey(ctx: Context, key: Pick<NewApiKey, 'name' | 'access'>): Promise<IssuedApiKey> {
  const { app, principal } = ctx
  const { userId } = principal
  return await write(ctx, async (tx) => {
    const { maxApiKeys } = await app.hooks.lockLimits(tx, userId)
    await holdSession(tx, principal)
    const workspaceId = await ownWorkspaceOf(tx, userId)
    return await issueApiKeyWithin(tx, userId, maxApiKeys, { ...key, userId, workspaceId })
  })
}

/** Makes the key invalid from the next request on. @throws NOT_FOUND when it is not a personal key of the caller, or was revoked. */
export async function revokeOwnApiKey(ctx: Context, id: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    const revoked = await revokeKeys(tx, { id, userId: ctx.principal.userId, teamId: null })
    return revoked ? { id, deleted: true } : fail('NOT_FOUND', 'API key not found')
  })
}

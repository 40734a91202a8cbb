// Operations on webhook endpoints for the managers of a workspace: create, change, delete, rotate the secret.
import type { Context } from '../core/context.ts'
import { countedWorkspaces } from '../core/counted-workspaces.ts'
import type { Sql } from '../core/database/database.ts'
import type { Tx } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { serverOf } from '../core/network/address.ts'
import type { PlanLimits } from '../core/principal.ts'
import { lockManager, manages, requireManager } from '../core/roles.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import { eraseEndpoint, lockEndpoint, lockEndpointsOf, readSecrets, replaceSecret, type StoredEndpoint } from './endpoints.sql.ts'
import type { CreateWebhook, UpdateWebhook } from './input.ts'
import { overThePlan } from './policy.ts'
import { withRetired, withTime } from './previous-secrets.ts'
import { cancelDeliveries } from './settle.sql.ts'
import { newSecret } from './sign.ts'

/** An endpoint as operations return it. `shownSecret` is set only when a secret was just created. */
export type Endpoint = StoredEndpoint & { shownSecret?: string }

const secrets = { secret: true, previousSecret: true } as const

/** Implements `Hooks.countEndpoints` (core/app.ts). */
export async function countEndpoints(db: Prisma.TransactionClient, ownerId: string): Promise<number> {
  return await db.webhookEndpoint.count({ where: { deletedAt: null, workspace: countedWorkspaces(ownerId) } })
}

/** The number of endpoints that receive events, in all workspaces that the owner's plan pays for. */
async function countWorking(db: Prisma.TransactionClient, ownerId: string): Promise<number> {
  return await db.webhookEndpoint.count({ where: { deletedAt: null, disabledAt: null, workspace: countedWorkspaces(ownerId) } })
}

/** Reasons that the receiver caused. A new URL clears them; any other reason lasts until somebody enables the endpoint. */
const reasonsOfReceiver: readonly (string | null)[] = ['gone', 'failing']

/** A change starts deliveries again, so that the plan must be locked before the endpoint. */
class NeedsPlan extends Error {}

/**
 * Creates an endpoint. Its `shownSecret` cannot be read again. A team key acts for the person who made it.
 * @throws FORBIDDEN when the caller is a collaborator, VALIDATION_ERROR when the URL is refused, WEBHOOKS_NOT_AVAILABLE_ON_PLAN when
 * the plan has no webhooks, MAX_WEBHOOK_ENDPOINTS_REACHED when all workspaces that the plan pays for together have the maximum (exact
 * under concurrency); as `Hooks.lockQuota` and {@link lockManager}.
 */
export async function createEndpoint(ctx: Context, input: CreateWebhook): Promise<Endpoint> {
  const { app, principal } = ctx
  // Checked first: no DNS lookup is made for a caller who may not create.
  requireManager(principal)
  const fault = await faultOf(ctx, input.url)
  return await write(ctx, async (tx) => {
    // Thrown in here, so that a repeated request gets its first result even if the name resolves to another address by then.
    if (fault) fail('VALIDATION_ERROR', fault)
    if (!ctx.features.webhooks) fail('WEBHOOKS_NOT_AVAILABLE_ON_PLAN')
    const { maxWebhookEndpoints } = await ctx.app.hooks.lockQuota(tx, ctx.principal)
    await lockManager(ctx, tx)
    const { workspaceId, ownerId, userId } = principal
    if ((await countEndpoints(tx.db, ownerId)) >= maxWebhookEndpoints) fail('MAX_WEBHOOK_ENDPOINTS_REACHED')
    const secret = newSecret()
    const { url, events } = input
    const data = { id: newId(), workspaceId, url, events, createdById: userId, approvedById: userId }
    const created = await tx.db.webhookEndpoint.create({ data: { ...data, secret: app.sealer.seal(secret) }, omit: secrets })
    return { ...created, shownSecret: secret }
  })
}

/**
 * Changes the given fields. Pending attempts go to the new URL, which starts without the failures of the old one. `enabled: false`
 * cancels them. The caller who sets the URL or enables the endpoint becomes responsible for it (`approvedById`).
 * @throws VALIDATION_ERROR when the URL is refused; as {@link lockOwnEndpoint}; when it starts deliveries again, also SUBSCRIPTION_INACTIVE,
 * and MAX_WEBHOOK_ENDPOINTS_REACHED when as many endpoints work as the plan allows.
 */
export async function updateEndpoint(ctx: Context, id: string, input: UpdateWebhook): Promise<Endpoint> {
  const { role, ownerId } = ctx.principal
  const mayChange = role === null || manages(role)
  const fault = mayChange && input.url !== undefined ? await faultOf(ctx, input.url) : undefined
  const change = (locksPlan: boolean) =>
    write(ctx, async (tx) => {
      if (fault) fail('VALIDATION_ERROR', fault)
      return await changeEndpoint(ctx, tx, id, input, locksPlan ? await ctx.app.hooks.lockLimits(tx, ownerId) : undefined)
    })
  try {
    return await change(false)
  } catch (error) {
    // The plan is locked before the endpoint, as in all verbs, and only the endpoint tells if it must be.
    if (error instanceof NeedsPlan) return await change(true)
    throw error
  }
}

/** Changes an endpoint. `limits` are those of the plan, if it is locked. @throws NeedsPlan when it is not, and must be. */
async function changeEndpoint(ctx: Context, tx: Tx, id: string, input: UpdateWebhook, limits?: PlanLimits): Promise<Endpoint> {
  const { ownerId, userId } = ctx.principal
  const before = await lockOwnEndpoint(ctx, tx, id)
  if (input.enabled && before.disabledReason === overThePlan) fail('MAX_WEBHOOK_ENDPOINTS_REACHED')
  const data = changeOf(before, input, userId)
  if (before.disabledAt && !data.disabledAt) {
    if (!limits) throw new NeedsPlan()
    if ((await countWorking(tx.db, ownerId)) >= limits.maxWebhookEndpoints) fail('MAX_WEBHOOK_ENDPOINTS_REACHED')
  }
  const updated = await tx.db.webhookEndpoint.update({ where: { id }, data, omit: secrets })
  if (input.enabled === false) await cancelDeliveries(tx, [id], 'endpoint_disabled')
  return updated
}

/** The new values of an endpoint. */
function changeOf(
  before: Pick<Endpoint, 'url' | 'events' | 'disabledReason' | 'disabledAt'>,
  { url = before.url, events = before.events, enabled }: UpdateWebhook,
  userId: string,
) {
  const moved = url !== before.url
  const starts = enabled === true || (enabled === undefined && moved && reasonsOfReceiver.includes(before.disabledReason))
  const disabledReason = enabled === false ? 'by_hand' : starts ? null : before.disabledReason
  const disabledAt = disabledReason === null ? null : (before.disabledAt ?? new Date())
  const approval = moved || enabled === true ? { approvedById: userId, failingSince: null, failedEvents: 0 } : {}
  return { url, events, disabledReason, disabledAt, ...approval }
}

/**
 * Deletes the endpoint and its secrets, and cancels its pending deliveries.
 * @throws as {@link lockOwnEndpoint}.
 */
export async function deleteEndpoint(ctx: Context, id: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    await lockOwnEndpoint(ctx, tx, id)
    await removeEndpoints(tx, [id])
    return { id, deleted: true }
  })
}

/** {@link deleteEndpoint} for every endpoint of a workspace. An attempt in progress is the last one. */
export async function endEndpoints(tx: Sql, workspaceId: string): Promise<void> {
  await removeEndpoints(tx, await lockEndpointsOf(tx, workspaceId))
}

async function removeEndpoints(tx: Sql, ids: readonly string[]): Promise<void> {
  for (const id of ids) await eraseEndpoint(tx, id)
  await cancelDeliveries(tx, ids, 'endpoint_deleted')
}

/**
 * Creates a new secret, which is shown only in this result. Each previous secret also signs for 24 hours from its own rotation.
 * @throws as {@link lockOwnEndpoint}.
 */
export async function rotateSecret(ctx: Context, id: string): Promise<Endpoint> {
  return await write(ctx, async (tx) => {
    await lockOwnEndpoint(ctx, tx, id)
    const { sealer } = ctx.app
    const before = await readSecrets(tx, id)
    const stored = before.previous && sealer.tryOpen(before.previous)
    // A secret that cannot be decrypted signs nothing.
    const retired = sealer.tryOpen(before.secret)
    const timed = stored ? withTime(stored.toString(), before.until as Date) : null
    const previous = retired ? withRetired(timed, retired.toString(), before.now) : (timed ?? '')
    const secret = newSecret()
    const sealed = { secret: sealer.seal(secret), previous: sealer.seal(previous) }
    const rotated = await replaceSecret(tx, id, sealed)
    return { ...rotated, shownSecret: secret }
  })
}

/**
 * Locks an endpoint of the workspace (FOR NO KEY UPDATE) for a caller who may change it. The role is locked first, in the same order as
 * a removal from the team locks them, against deadlocks.
 * @throws NOT_FOUND when the workspace has no such endpoint, then FORBIDDEN when the caller is a collaborator; as `Hooks.lockCallerRole`.
 */
export async function lockOwnEndpoint(ctx: Context, tx: Sql, id: string): Promise<Endpoint> {
  const role = await ctx.app.hooks.lockCallerRole(tx, ctx.principal)
  const endpoint = (await lockEndpoint(tx, ctx.principal.workspaceId, id)) ?? fail('NOT_FOUND', 'Webhook endpoint not found')
  requireManager({ role })
  return endpoint
}

/**
 * Checks a URL by the rules that need more than its text: it must not be this gateway, and its name must not resolve to a private
 * network. Returns the fault.
 */
async function faultOf(ctx: Context, text: string): Promise<string | undefined> {
  const url = new URL(text)
  const ours = [ctx.app.address, ctx.app.config.publicUrl].flatMap((address) => (address ? serverOf(new URL(address)) : []))
  const fault = ours.includes(serverOf(url)) ? 'must not be this gateway itself' : await ctx.app.egress.checkName(url)
  return fault && `url: ${fault}`
}

// Operations on webhook endpoints for the managers of a workspace: create, change, delete, rotate the secret.

import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import { countedWorkspaces, holdQuota } from '../core/database/plan-quota.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { serverOf } from '../core/network/address.ts'
import { holdManager, manages, requireManager } from '../core/roles.ts'
import type { WebhookEndpoint } from '../generated/prisma/client.ts'
import type { CreateWebhook, UpdateWebhook } from './input.ts'
import { previousSecretHours } from './policy.ts'
import { cancelDeliveries } from './settle.ts'
import { newSecret } from './sign.ts'

/** An endpoint as operations return it: without the encrypted secrets. `shownSecret` is set only when a secret was just created. */
export type Endpoint = Omit<WebhookEndpoint, 'secret' | 'previousSecret'> & { shownSecret?: string }

const columns = `id, "workspaceId", url, events, "previousSecretUntil", "disabledAt", "disabledReason", "failingSince", "failedEvents",
  "createdById", "approvedById", "createdAt", "updatedAt", "deletedAt"`

/**
 * Creates an endpoint. Its `shownSecret` cannot be read again. A team key acts for the person who made it.
 * @throws FORBIDDEN when the caller is a collaborator, VALIDATION_ERROR when the URL is refused, WEBHOOKS_NOT_AVAILABLE_ON_PLAN when
 * the plan has no webhooks, MAX_WEBHOOK_ENDPOINTS_REACHED when all workspaces that the plan pays for together have the maximum (exact
 * under concurrency); as {@link holdQuota} and {@link holdManager}.
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
    const { maxWebhookEndpoints } = await holdQuota(ctx, tx)
    await holdManager(ctx, tx)
    const { rows } = await tx.query<{ count: number }>(
      `select count(*)::int as count from webhook_endpoints where "workspaceId" in ${countedWorkspaces} and "deletedAt" is null`,
      [principal.ownerId],
    )
    if ((rows[0]?.count ?? 0) >= maxWebhookEndpoints) fail('MAX_WEBHOOK_ENDPOINTS_REACHED')
    const secret = newSecret()
    const created = await tx.query<Endpoint>(
      `insert into webhook_endpoints (id, "workspaceId", url, events, secret, "createdById", "approvedById")
       values ($1, $2, $3, $4, $5, $6, $6) returning ${columns}`,
      [newId(), principal.workspaceId, input.url, input.events, app.sealer.seal(secret), principal.userId],
    )
    return { ...(created.rows[0] as Endpoint), shownSecret: secret }
  })
}

/** Reasons that the receiver caused. A new URL clears them; any other reason lasts until somebody enables the endpoint. */
const reasonsOfReceiver: readonly (string | null)[] = ['gone', 'failing']

/**
 * Changes the given fields. Pending attempts go to the new URL, which starts without the failures of the old one. `enabled: false`
 * cancels them. The caller who sets the URL or enables the endpoint becomes responsible for it (`approvedById`).
 * @throws VALIDATION_ERROR when the URL is refused; as {@link holdEndpoint}.
 */
export async function updateEndpoint(ctx: Context, id: string, input: UpdateWebhook): Promise<Endpoint> {
  const { role, userId } = ctx.principal
  const mayChange = role === null || manages(role)
  const fault = mayChange && input.url !== undefined ? await faultOf(ctx, input.url) : undefined
  return await write(ctx, async (tx) => {
    if (fault) fail('VALIDATION_ERROR', fault)
    const before = await holdEndpoint(ctx, tx, id)
    const { url = before.url, events = before.events, enabled } = input
    const moved = url !== before.url
    const stopped = enabled === false
    const cleared = enabled === true || (moved && reasonsOfReceiver.includes(before.disabledReason))
    const reason = stopped ? 'by_hand' : cleared ? null : before.disabledReason
    const { rows } = await tx.query<Endpoint>(
      `update webhook_endpoints set url = $2, events = $3, "disabledReason" = $4,
         "disabledAt" = case when $4::text is null then null else coalesce("disabledAt", now()) end,
         "failingSince" = case when $5 then null else "failingSince" end, "failedEvents" = case when $5 then 0 else "failedEvents" end,
         "approvedById" = case when $5 then $6 else "approvedById" end, "updatedAt" = now()
       where id = $1 returning ${columns}`,
      [id, url, events, reason, moved || enabled === true, userId],
    )
    if (stopped) await cancelDeliveries(tx, id, 'endpoint_disabled')
    return rows[0] as Endpoint
  })
}

/**
 * Deletes the endpoint and its secrets, and cancels its pending deliveries.
 * @throws as {@link holdEndpoint}.
 */
export async function deleteEndpoint(ctx: Context, id: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    await holdEndpoint(ctx, tx, id)
    await removeEndpoint(tx, id)
    return { id, deleted: true }
  })
}

/** {@link deleteEndpoint} for every endpoint of a workspace. An attempt in progress is the last one. */
export async function endEndpoints(tx: Sql, workspaceId: string): Promise<void> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from webhook_endpoints where "workspaceId" = $1 and "deletedAt" is null order by id for no key update`,
    [workspaceId],
  )
  for (const { id } of rows) await removeEndpoint(tx, id)
}

async function removeEndpoint(tx: Sql, id: string): Promise<void> {
  await tx.query(
    `update webhook_endpoints set "deletedAt" = now(), "updatedAt" = now(), secret = '', "previousSecret" = null where id = $1`,
    [id],
  )
  await cancelDeliveries(tx, id, 'endpoint_deleted')
}

/**
 * Creates a new secret, which is shown only in this result. The previous secret also signs for 24 hours.
 * @throws as {@link holdEndpoint}.
 */
export async function rotateSecret(ctx: Context, id: string): Promise<Endpoint> {
  return await write(ctx, async (tx) => {
    await holdEndpoint(ctx, tx, id)
    const secret = newSecret()
    const { rows } = await tx.query<Endpoint>(
      `update webhook_endpoints set "previousSecret" = secret, "previousSecretUntil" = now() + make_interval(hours => $3), secret = $2,
         "updatedAt" = now()
       where id = $1 returning ${columns}`,
      [id, ctx.app.sealer.seal(secret), previousSecretHours],
    )
    return { ...(rows[0] as Endpoint), shownSecret: secret }
  })
}

/**
 * Locks an endpoint of the workspace (FOR NO KEY UPDATE) for a caller who may change it. The role is locked first, in the same order as
 * a removal from the team locks them, against deadlocks.
 * @throws NOT_FOUND when the workspace has no such endpoint, then FORBIDDEN when the caller is a collaborator; as `App.holdRole`.
 */
export async function holdEndpoint(ctx: Context, tx: Sql, id: string): Promise<Endpoint> {
  const role = await ctx.app.hooks.holdRole(tx, ctx.principal)
  const { rows } = await tx.query<Endpoint>(
    `select ${columns} from webhook_endpoints where id = $1 and "workspaceId" = $2 and "deletedAt" is null for no key update`,
    [id, ctx.principal.workspaceId],
  )
  const endpoint = rows[0] ?? fail('NOT_FOUND', 'Webhook endpoint not found')
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

// What the managers of a workspace do with webhook endpoints: create, change, delete, give a new secret.

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

/** An endpoint as verbs return it: without what is sealed, and with the secret where it is shown this once. */
export type Endpoint = Omit<WebhookEndpoint, 'secret' | 'previousSecret'> & { shownSecret?: string }

const columns = `id, "workspaceId", url, events, "previousSecretUntil", "disabledAt", "disabledReason", "failingSince", "failedEvents",
  "createdById", "approvedById", "createdAt", "updatedAt", "deletedAt"`

/**
 * Creates an endpoint; its `shownSecret` is not to be had again. A team key stands for the person who made it.
 * @throws FORBIDDEN for collaborators, VALIDATION_ERROR, WEBHOOKS_NOT_AVAILABLE_ON_PLAN; MAX_WEBHOOK_ENDPOINTS_REACHED, exact
 * under a race, over all workspaces that the plan pays for; as {@link holdQuota} and {@link holdManager}.
 */
export async function createEndpoint(ctx: Context, input: CreateWebhook): Promise<Endpoint> {
  const { app, principal } = ctx
  // No name is looked up for somebody who may not create.
  requireManager(principal)
  const fault = await faultOf(ctx, input.url)
  return await write(ctx, async (tx) => {
    // A repeated request gets the same answer, also where the name leads to another address by now.
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

/** What the receiver brought about ends with its URL; every other reason lasts until somebody enables the endpoint. */
const reasonsOfReceiver: readonly (string | null)[] = ['gone', 'failing']

/**
 * Changes what is given. Attempts that are still to be made go to the new URL, which starts without the old one's failures;
 * switching off ends them. Setting the URL and enabling make the caller answer for the endpoint (`approvedById`).
 * @throws VALIDATION_ERROR, and as {@link holdEndpoint}.
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

/** Deletes the endpoint and its secrets; what it was still to get is given up. @throws as {@link holdEndpoint}. */
export async function deleteEndpoint(ctx: Context, id: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    await holdEndpoint(ctx, tx, id)
    await removeEndpoint(tx, id)
    return { id, deleted: true }
  })
}

/** {@link deleteEndpoint} for all that a workspace has: an attempt that is being made is the last one. */
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

/** Gives a new secret, shown this once; the one before it signs too for 24 hours. @throws as {@link holdEndpoint}. */
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
 * Locks an endpoint of the workspace for somebody who may change it. The role is locked first, as a removal does it.
 * @throws NOT_FOUND, then FORBIDDEN for collaborators; as `App.holdRole`.
 */
export async function holdEndpoint(ctx: Context, tx: Sql, id: string): Promise<Endpoint> {
  const role = await ctx.app.holdRole(tx, ctx.principal)
  const { rows } = await tx.query<Endpoint>(
    `select ${columns} from webhook_endpoints where id = $1 and "workspaceId" = $2 and "deletedAt" is null for no key update`,
    [id, ctx.principal.workspaceId],
  )
  const endpoint = rows[0] ?? fail('NOT_FOUND', 'Webhook endpoint not found')
  requireManager({ role })
  return endpoint
}

/** What is wrong with a URL by the rules that need more than its text: ourselves, and what the name leads to now. */
async function faultOf(ctx: Context, text: string): Promise<string | undefined> {
  const url = new URL(text)
  const ours = [ctx.app.address, ctx.app.config.publicUrl].flatMap((address) => (address ? serverOf(new URL(address)) : []))
  const fault = ours.includes(serverOf(url)) ? 'must not be this gateway itself' : await ctx.app.egress.checkName(url)
  return fault && `url: ${fault}`
}

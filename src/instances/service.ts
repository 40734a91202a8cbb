// Operations on instances: create, connect, log out, delete.
import { z } from 'zod'
import type { App } from '../core/app.ts'
import type { Config } from '../core/config/config.ts'
import type { Context } from '../core/context.ts'
import { countedWorkspaces } from '../core/counted-workspaces.ts'
import type { Sql } from '../core/database/database.ts'
import { fail, invalid, issuesOf } from '../core/errors.ts'
import { idempotencyKey } from '../core/graph/input.ts'
import { newId } from '../core/id.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { phone } from '../core/phone.ts'
import { isTaken } from '../core/public-failure.ts'
import { requireManager } from '../core/roles.ts'
import { faultsOf, jsonObject, nameOf, parse, uuid } from '../core/validation.ts'
import type { Instance, Prisma } from '../generated/prisma/client.ts'
import { ProviderName } from '../generated/prisma/enums.ts'
import { providerOf } from '../providers/providers.ts'
import { lockInstance, markDeleted, storeChanges } from './instances.sql.ts'
import { applyChange } from './state.ts'
import { tellInstance } from './tell.ts'

export const createInstanceFields = z.object({
  name: nameOf(100).describe('Its name, 1 to 100 characters.'),
  provider: z
    .enum(ProviderName)
    .meta({ id: 'ProviderName' })
    .nullish()
    .describe(
      'The network; defaults to the sandbox. A server in production has no default, and a sandbox only if its operator allows it.',
    ),
  settings: jsonObject(z.unknown()).nullish().describe("The provider's own settings."),
  idempotencyKey,
})

export const updateInstanceFields = z.object({
  name: nameOf(100).optional().describe('The new name, 1 to 100 characters.'),
  settings: jsonObject(z.unknown())
    .optional()
    .describe("The provider's settings to change; others stay. Null clears an optional one."),
})

export const connectFields = z
  .object({ phone: phone.nullish().describe('The number to pair with a code instead of a QR code, E.164.') })
  .describe('The way to connect.')

export const connectById = z.object({ id: uuid, ...connectFields.shape })

/** Reads a new instance. @throws VALIDATION_ERROR; it names the wrong settings beside the other faults. */
export function newInstanceOf(app: App, input: unknown): z.output<typeof createInstanceFields> {
  const read = createInstanceFields.safeParse(input)
  if (read.success) return read.data
  const issues = faultsOf(read.error, 'input')
  const network = createInstanceFields.pick({ provider: true, settings: true }).safeParse(input)
  try {
    if (network.success) {
      const { provider, settings } = network.data
      providerOf(app, providerToUse(app.config, provider))?.storeSettings(settings ?? {})
    }
  } catch (error) {
    issues.push(...(issuesOf(error as Error) ?? []))
  }
  throw invalid(issues)
}

/** The instances in all workspaces that count against the plan of that account. */
export async function countInstances(db: Prisma.TransactionClient, ownerId: string): Promise<number> {
  return await db.instance.count({ where: { deletedAt: null, workspace: countedWorkspaces(ownerId) } })
}

/**
 * Creates an instance, not connected yet.
 * @throws MAX_INSTANCES_REACHED when the workspaces that the plan pays for have as many as it allows, exact under concurrency;
 * FORBIDDEN when the caller is a collaborator; CONFLICT when another instance of the workspace has the number; VALIDATION_ERROR when the
 * provider is not set up or refuses the settings; and as `Hooks.lockQuota`.
 */
export async function createInstance(ctx: Context, input: z.output<typeof createInstanceFields>): Promise<Instance> {
  const { app, principal } = ctx
  const provider = providerToUse(app.config, input.provider)
  return await write(ctx, async (tx) => {
    const network =
      providerOf(app, provider) ?? fail('VALIDATION_ERROR', `provider: ${provider} is not configured on this server`)
    if (network.installed?.() === false) fail('VALIDATION_ERROR', `provider: ${provider} is not installed on this server`)
    const stored = network.storeSettings(input.settings ?? {})
    requireManager(principal)
    const { maxInstances } = await app.hooks.lockQuota(tx, principal)
    if ((await countInstances(tx.db, principal.ownerId)) >= maxInstances) fail('MAX_INSTANCES_REACHED')
    const { workspaceId, ownerId: userId } = principal
    const settings = stored.settings as Prisma.InputJsonObject
    const data = { id: newId(), workspaceId, userId, name: input.name, provider, settings, credentials: stored.credentials }
    try {
      const created = await tx.db.instance.create({ data })
      await tellInstance(tx, workspaceId, created.id)
      return withoutSecrets(created)
    } catch (error) {
      if (!network.identity || !isTaken(error)) throw error
      return fail('CONFLICT', `settings.${network.identity}: another instance of the workspace has it`)
    }
  })
}

/** In production the sandbox never stands in for a real network. @throws VALIDATION_ERROR when it would. */
function providerToUse({ production, sandbox }: Config, given: ProviderName | null | undefined): ProviderName {
  const provider = given ?? (production ? fail('VALIDATION_ERROR', 'provider: is required on this server') : 'sandbox')
  if (provider === 'sandbox' && !sandbox) fail('VALIDATION_ERROR', 'provider: sandbox needs SANDBOX=1 on a server in production')
  return provider
}

/** Returns an instance of the workspace. @throws NOT_FOUND when it has no such instance. */
export async function findOwnInstance({ app, principal }: Context, id: string): Promise<Instance> {
  const where = { id, workspaceId: principal.workspaceId, deletedAt: null }
  return (await app.db.instance.findFirst({ where })) ?? fail('NOT_FOUND', 'Instance not found')
}

/** @throws NOT_FOUND when the workspace has no such instance. */
export async function checkInstance(db: Prisma.TransactionClient, workspaceId: string, id: string): Promise<void> {
  const instance = await db.instance.findFirst({ where: { id, workspaceId, deletedAt: null }, select: { id: true } })
  if (!instance) fail('NOT_FOUND', 'Instance not found')
}

/**
 * Starts to connect; the provider reports the progress. Has no effect on an instance that is connected, connecting or pairing, except that
 * one that waits to be paired shows a code if a number is given.
 */
export async function connectInstance(ctx: Context, id: string, number: string | null | undefined): Promise<Instance> {
  if (number != null) parse(phone, number, 'phone')
  return await change(ctx, async (tx) => {
    const instance = await lockOwnInstance(tx, ctx.principal.workspaceId, id)
    await startConnecting(ctx.app, tx, instance, number ?? undefined)
    return await lockOwnInstance(tx, ctx.principal.workspaceId, id)
  })
}

/**
 * {@link connectInstance} for a locked instance, in the transaction of the calling function, which must emit the signal `outbox` after the
 * commit. @throws MAX_INSTANCES_REACHED when the instance rests; PROVIDER_ERROR when the provider is not set up; and as its `connect`.
 */
export async function startConnecting(app: App, tx: Sql, instance: Instance, number?: string): Promise<void> {
  const { id, status } = instance
  if (instance.restingAt) fail('MAX_INSTANCES_REACHED', "The instance rests, because it is over the plan's limit")
  if (status === 'connected') return
  const provider = providerFor(app, instance)
  if (status === 'connecting' || status === 'pairing') {
    if (number === undefined || !(await provider.pairByCode?.(instance, number, tx))) return
    return await applyChange(app, tx, { instanceId: id, status: 'connecting' })
  }
  if (provider.installed?.() === false)
    fail('PROVIDER_ERROR', `The provider ${instance.provider} is not installed on this server`)
  await applyChange(app, tx, { instanceId: id, status: 'connecting' })
  const state = await provider.connect(instance, { phone: number }, tx)
  if (state) await applyChange(app, tx, { instanceId: id, ...state })
}

/**
 * Changes the name, or settings in place: the next call to the network has them. A new secret of the login connects an instance that is
 * disconnected. @throws NOT_FOUND when the instance is not in the workspace; FORBIDDEN when the caller is a collaborator; VALIDATION_ERROR
 * when the provider refuses the settings; PROVIDER_ERROR when it is not set up.
 */
export async function updateInstance(ctx: Context, id: string, input: z.output<typeof updateInstanceFields>): Promise<Instance> {
  const { app, principal } = ctx
  return await change(ctx, async (tx) => {
    const before = await lockOwnInstance(tx, principal.workspaceId, id)
    requireManager(principal)
    await tellInstance(tx, principal.workspaceId, id)
    const { name = before.name, settings } = input
    const changed = settings && providerFor(app, before).changeSettings(before, settings)
    await storeChanges(tx, id, {
      name,
      settings: changed?.settings ?? before.settings,
      credentials: (changed ?? before).credentials,
    })
    const after = await lockOwnInstance(tx, principal.workspaceId, id)
    const { status } = before
    if (changed && (status === 'connecting' || status === 'connected' || status === 'disconnected')) {
      await providerFor(app, before).changed?.(before, after, status, tx)
    }
    const connects = changed?.newLogin && status === 'disconnected' && !before.restingAt && principal.active
    if (connects) await startConnecting(app, tx, after)
    return await lockOwnInstance(tx, principal.workspaceId, id)
  })
}

/**
 * Ends the connection and deletes the login. @throws NOT_FOUND when the instance is not in the workspace; FORBIDDEN when the
 * caller is a collaborator; PROVIDER_ERROR when the provider is not set up.
 */
export async function logoutInstance(ctx: Context, id: string): Promise<Instance> {
  return await change(ctx, async (tx) => {
    const instance = await lockOwnInstance(tx, ctx.principal.workspaceId, id)
    requireManager(ctx.principal)
    if (instance.status === 'logged_out') return instance
    await applyChange(ctx.app, tx, { instanceId: id, status: 'logged_out' })
    await providerFor(ctx.app, instance).logout(instance, tx)
    return await lockOwnInstance(tx, ctx.principal.workspaceId, id)
  })
}

/**
 * Logs the instance out and removes it from every list; its messages stay. Messages that still wait for it fail. @throws
 * NOT_FOUND, FORBIDDEN and PROVIDER_ERROR when {@link logoutInstance} does.
 */
export async function deleteInstance(ctx: Context, id: string): Promise<{ id: string; deleted: true }> {
  await change(ctx, (tx) => removeInstance(ctx.app, tx, ctx.principal.workspaceId, id, () => requireManager(ctx.principal)))
  return { id, deleted: true }
}

/**
 * {@link deleteInstance} in the transaction of the calling function, which must emit the signal `outbox` after the commit.
 * `check` may throw to refuse the deletion. @throws NOT_FOUND when the instance is not in the workspace; PROVIDER_ERROR when the
 * provider is not set up.
 */
export async function removeInstance(app: App, tx: Sql, workspaceId: string, id: string, check?: () => void): Promise<Instance> {
  const instance = await lockOwnInstance(tx, workspaceId, id)
  check?.()
  await applyChange(app, tx, { instanceId: id, status: 'logged_out' })
  await markDeleted(tx, id)
  await app.hooks.releaseWaiting(app, tx, id)
  await providerFor(app, instance).logout(instance, tx)
  return instance
}

/** Runs one transaction that changes an instance. */
async function change(ctx: Context, work: (tx: Sql) => Promise<Instance>): Promise<Instance> {
  return await write(ctx, async (tx) => withoutSecrets(await work(tx)))
}

async function lockOwnInstance(tx: Sql, workspaceId: string, id: string): Promise<Instance> {
  return (await lockInstance(tx, workspaceId, id)) ?? fail('NOT_FOUND', 'Instance not found')
}

/** A result may be stored under an Idempotency-Key, which must not keep secrets that are erased. */
function withoutSecrets(instance: Instance): Instance {
  return { ...instance, credentials: null }
}

function providerFor(app: App, instance: Instance) {
  return (
    providerOf(app, instance.provider) ??
    fail('PROVIDER_ERROR', `The provider ${instance.provider} is not configured on this server`)
  )
}

// Instances that exceed the plan rest: they are disconnected, and connect again when the plan allows them.
import type { App, LimitedKind } from '../core/app.ts'
import { countedWorkspaces } from '../core/counted-workspaces.ts'
import type { Tx } from '../core/database/transaction.ts'
import { codeOf } from '../core/errors.ts'
import { chooseResting, type Fit, type Fitted } from '../core/fit.ts'
import type { Instance } from '../generated/prisma/client.ts'
import type { Provider } from '../providers/provider.ts'
import { providerOf } from '../providers/providers.ts'
import { countedInstances, lockInstance, markResting } from './instances.sql.ts'
import { applyChange } from './state.ts'

const overThePlan = "over the plan's limit"

/** Implements `Hooks.limitedInstances` (core/app.ts). */
export const limitedInstances: LimitedKind = { fit: fitInstances, counted: countedInstances }

/** Messages wait for a resting instance as for one that lost its connection. */
async function fitInstances(app: App, tx: Tx, fit: Fit): Promise<Fitted> {
  const instances = await tx.db.instance.findMany({
    where: { deletedAt: null, workspace: countedWorkspaces(fit.ownerId) },
    select: { id: true, workspaceId: true, name: true, restingAt: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  const rows = instances.map((row) => ({ ...row, resting: row.restingAt !== null }))
  const { rest, resume, resting } = chooseResting(rows, fit)
  for (const { id } of rest) {
    await applyChange(app, tx, { instanceId: id, status: 'disconnected', error: overThePlan })
    await markResting(tx, id, true)
  }
  for (const { id, workspaceId } of resume) await resumeInstance(app, tx, workspaceId, id)
  return { rested: rest.map(({ name }) => name), resting }
}

/** Connects an instance again that was connected before, unless it was logged out meanwhile. */
async function resumeInstance(app: App, tx: Tx, workspaceId: string, id: string): Promise<void> {
  await markResting(tx, id, false)
  const instance = await lockInstance(tx, workspaceId, id)
  if (instance?.status !== 'disconnected') return
  const provider = providerOf(app, instance.provider)
  if (!instance.firstConnectedAt || !provider)
    return await applyChange(app, tx, { instanceId: id, status: instance.firstConnectedAt ? 'disconnected' : 'created' })
  await applyChange(app, tx, { instanceId: id, status: 'connecting' })
  const state = await connect(provider, instance, tx)
  if (state) await applyChange(app, tx, { instanceId: id, ...state })
}

/** An instance that its settings keep from connecting keeps nothing else of its owner from being resumed. */
async function connect(provider: Provider, instance: Instance, tx: Tx): ReturnType<Provider['connect']> {
  try {
    return await provider.connect(instance, {}, tx)
  } catch (error) {
    if (!codeOf(error)) throw error
    return { status: 'disconnected', error: (error as Error).message }
  }
}

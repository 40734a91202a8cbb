// Endpoints that exceed the plan rest: they are disabled with that reason until the plan allows them again.
import type { App, LimitedKind } from '../core/app.ts'
import { countedWorkspaces } from '../core/counted-workspaces.ts'
import type { Tx } from '../core/database/transaction.ts'
import { chooseResting, type Fit, type Fitted } from '../core/fit.ts'
import { countedEndpoints, disableEndpoint, enableEndpoint } from './endpoints.sql.ts'
import { overThePlan } from './policy.ts'
import { cancelDeliveries } from './settle.sql.ts'

/** Implements `Hooks.limitedEndpoints` (core/app.ts). */
export const limitedEndpoints: LimitedKind = { fit: fitEndpoints, counted: countedEndpoints }

/** An endpoint that is disabled for another reason keeps it, and its place. */
async function fitEndpoints(_: App, tx: Tx, fit: Fit): Promise<Fitted> {
  const endpoints = await tx.db.webhookEndpoint.findMany({
    where: { deletedAt: null, workspace: countedWorkspaces(fit.ownerId) },
    select: { id: true, url: true, disabledReason: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  const rows = endpoints.map((row) => ({ ...row, resting: row.disabledReason === overThePlan }))
  const { rest, resume, resting } = chooseResting(rows, fit)
  const enabled = rest.filter(({ disabledReason }) => disabledReason === null)
  const ids = enabled.map(({ id }) => id)
  for (const id of ids) await disableEndpoint(tx, id, overThePlan)
  await cancelDeliveries(tx, ids, 'endpoint_disabled')
  for (const { id } of resume) await enableEndpoint(tx, id)
  return { rested: enabled.map(({ url }) => url), resting: resting - (rest.length - enabled.length) }
}

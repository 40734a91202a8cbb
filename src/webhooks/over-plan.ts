// Endpoints that exceed the plan rest: they are disabled with that reason until the plan allows them again.
import type { App, LimitedKind } from '../core/app.ts'
import { countedWorkspaces } from '../core/counted-workspaces.ts'
import type { Tx } from '../core/database/transaction.ts'
import { chooseResting, type Fit, type Fitted } from '../core/fit.ts'
import { countedEndpoints, restEndpoints, resumeEndpoints } from './endpoints.sql.ts'
import { overThePlan } from './policy.ts'
import { cancelDeliveries } from './settle.sql.ts'

/** Implements `Hooks.limitedEndpoints` (core/app.ts). */
export const limitedEndpoints: LimitedKind = { fit: fitEndpoints, counted: countedEndpoints }

/**
 * An endpoint that is disabled for another reason keeps that reason and its place. The rows are read without locks, so the updates check the
 * reason again.
 */
async function fitEndpoints(_: App, tx: Tx, fit: Fit): Promise<Fitted> {
  const endpoints = await tx.db.webhookEndpoint.findMany({
    where: { deletedAt: null, workspace: countedWorkspaces(fit.ownerId) },
    select: { id: true, url: true, disabledReason: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  const rows = endpoints.map((row) => ({ ...row, resting: row.disabledReason === overThePlan }))
  const { rest, resume, resting } = chooseResting(rows, fit)
  const enabled = rest.filter(({ disabledReason }) => disabledReason === null)
  // The older endpoints first, which have the lower ids: every other statement locks endpoints in that order.
  await resumeEndpoints(
    tx,
    resume.map(({ id }) => id),
  )
  const rested = new Set(
    await restEndpoints(
      tx,
      enabled.map(({ id }) => id),
    ),
  )
  await cancelDeliveries(tx, [...rested], 'endpoint_disabled')
  const names = enabled.filter(({ id }) => rested.has(id)).map(({ url }) => url)
  return { rested: names, resting: resting - (rest.length - names.length) }
}

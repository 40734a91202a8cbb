// API keys that exceed the plan rest: they are refused until the plan allows them again.
import type { App, LimitedKind } from '../../core/app.ts'
import { countedWorkspaces } from '../../core/counted-workspaces.ts'
import type { Tx } from '../../core/database/transaction.ts'
import { chooseResting, type Fit, type Fitted } from '../../core/fit.ts'
import { countedKeys } from './keys.sql.ts'

export const limitedKeys: LimitedKind = { fit: fitKeys, counted: countedKeys }

async function fitKeys(_: App, { db }: Tx, fit: Fit): Promise<Fitted> {
  const keys = await db.apiKey.findMany({
    where: { revokedAt: null, workspace: countedWorkspaces(fit.ownerId) },
    select: { id: true, name: true, restingAt: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  const rows = keys.map(({ id, name, restingAt }) => ({ id, name, resting: restingAt !== null }))
  const { rest, resume, resting } = chooseResting(rows, fit)
  await db.apiKey.updateMany({ where: { id: { in: rest.map(({ id }) => id) } }, data: { restingAt: new Date() } })
  await db.apiKey.updateMany({ where: { id: { in: resume.map(({ id }) => id) } }, data: { restingAt: null } })
  return { rested: rest.map(({ name }) => name), resting }
}

// Ends an account: sessions, keys, instances and teams at once; a job deletes its data.
import { z } from 'zod'
import { endUser } from '../accounts/end-user.ts'
import { checkOwnPassword } from '../accounts/sign-in/own-password.ts'
import { lockUser } from '../accounts/users.sql.ts'
import { endSubscription, payerOf, stopCharges } from '../billing/service.ts'
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import { type Tx, transaction } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { builder } from '../core/graph/builder.ts'
import { DeletedRef } from '../core/graph/deleted.ts'
import { defineArguments } from '../core/graph/input.ts'
import { enqueue } from '../core/jobs/jobs.ts'
import { parse, text } from '../core/validation.ts'
import { closedJob } from './closed-job.ts'
import { endedJob } from './ended-job.ts'
import { lockTeam } from './lock.sql.ts'
import { closeTeam } from './manage.ts'
import { endMembership } from './members.ts'

const DeleteMeArguments = defineArguments(
  'DeleteMeArguments',
  z.object({ password: text(1, 128).describe('Your password.') }).describe('The end of your account.'),
)

/** @throws NOT_FOUND when the account has ended already; PROVIDER_ERROR when Stripe knows it and does not respond, or a plan is ordered meanwhile. */
export async function endAccount(app: App, userId: string): Promise<void> {
  const closed = await stopCharges(app, userId)
  await transaction(app.db, async (tx) => {
    await endSubscription(app, tx, userId, closed)
    const workspaces = await tx.db.workspace.findMany({ where: { ownerId: userId, team: null }, select: { id: true } })
    await leaveTeams(app, tx, userId)
    if (!(await lockUser(tx, userId))) fail('NOT_FOUND', 'Account not found')
    // The person may have accepted an invitation before this lock. None is accepted after it.
    await leaveTeams(app, tx, userId)
    await endUser(tx, userId)
    await enqueue(
      app,
      tx,
      closedJob,
      workspaces.map(({ id }) => ({ data: { workspaceId: id } })),
    )
    await enqueue(app, tx, endedJob, [{ data: { userId } }])
  })
}

/** {@link endAccount} by an operator, for the account with that address. @throws NOT_FOUND when it is unknown; as {@link endAccount}. */
export async function endAccountOf(app: App, email: string): Promise<void> {
  await endAccount(app, await transaction(app.db, (tx) => payerOf(tx, email)))
}

/**
 * Ends the user's teams, and the membership in those of others. All are locked in one order, because two people who end their accounts may be
 * in each other's team.
 */
async function leaveTeams(app: App, tx: Tx, userId: string): Promise<void> {
  const where = { deletedAt: null, OR: [{ ownerId: userId }, { members: { some: { userId } } }] }
  for (const { id } of await tx.db.team.findMany({ where, select: { id: true }, orderBy: { id: 'asc' } })) {
    const team = await lockTeam(tx, id)
    if (team?.ownerId === userId) await closeTeam(app, tx, team)
    else if (team) await endMembership({ app }, tx, team, userId)
  }
}

async function deleteMe({ app, principal }: Context, password: string): Promise<{ id: string; deleted: true }> {
  const { userId } = principal
  await checkOwnPassword(app, userId, password, 'password: is not your password')
  await endAccount(app, userId)
  return { id: userId, deleted: true }
}

builder.mutationField('deleteMe', (t) =>
  t.field({
    type: DeletedRef,
    description:
      'Ends your account. Your sessions, keys, instances and teams end at once, and your address is free again; your data is deleted within a day. Messages that you sent in teams of others stay there, without your name.',
    errors: ['INVALID_CREDENTIALS', { INVALID_STATE: 'if the account has no password' }, 'PROVIDER_ERROR'],
    authScopes: { person: true },
    args: { password: t.arg.string({ required: true, description: 'Your password.' }) },
    resolve: (_, args, ctx) => deleteMe(ctx, parse(DeleteMeArguments, args).password),
  }),
)

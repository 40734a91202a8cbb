// Invitations to a team: each reserves a seat for seven days, for the person who proves ownership of the e-mail address.
import { createHash, randomBytes } from 'node:crypto'
import { personOf } from '../accounts/find-user.ts'
import { holdSession } from '../accounts/hold-session.ts'
import { orderMail } from '../accounts/mail/order.ts'
import { lockUser } from '../accounts/users.sql.ts'
import { lockPlan } from '../billing/lock-plan.ts'
import { takenSeats } from '../billing/team-fit.sql.ts'
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import type { Tx } from '../core/database/transaction.ts'
import { dayMs } from '../core/durations.ts'
import { fail, failFor } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { requireManager } from '../core/roles.ts'
import type { Invite } from './input.ts'
import { type Invitation, takeInvitation } from './invitation-budget.ts'
import type { LockedTeam } from './lock.sql.ts'
import { lockOwnTeam, lockPaidTeam } from './lock.ts'
import { touch } from './members.ts'
import { openInvitation } from './open-invitations.ts'
import { type InvitationRow, invitationFields, readTeam, type TeamRow } from './read.ts'

const holdsMs = 7 * dayMs

/**
 * By a manager of the team.
 * @throws TEAM_NOT_FOUND when the caller is not in the team; FORBIDDEN when the caller is a collaborator; and the errors of
 * {@link inviteIn} and {@link holdSession}.
 */
export async function inviteToTeam(ctx: Context, teamId: string, input: Invite): Promise<InvitationRow> {
  const { userId, credentialId } = ctx.principal
  return await write(ctx, async (tx) => {
    const team = await lockOwnTeam(tx, userId, teamId, lockPaidTeam)
    requireManager(team)
    await holdSession(tx, ctx.principal)
    return await inviteIn(ctx.app, tx, team, { ...input, inviterId: userId, sessionId: credentialId })
  })
}

/**
 * Invites somebody to a team that {@link lockPaidTeam} has locked. The mail is sent when the transaction commits.
 * @throws CONFLICT when the address belongs to a member or has an open invitation; MAX_TEAM_SEATS_REACHED when no seat is free, exact under
 * a race; SUBSCRIPTION_INACTIVE when the owner's subscription is inactive; API_RATE_LIMIT_EXCEEDED when {@link takeInvitation} throws it,
 * or when the address was sent too many mails.
 */
export async function inviteIn(
  app: App,
  tx: Tx,
  team: LockedTeam,
  invite: Invite & Pick<Invitation, 'inviterId' | 'sessionId'>,
): Promise<InvitationRow> {
  const { email, role, inviterId, sessionId } = invite
  const { lasting, active } = await lockPlan(tx, team.ownerId)
  if (!active) fail('SUBSCRIPTION_INACTIVE')
  if (await tx.db.teamMember.count({ where: { teamId: team.id, user: { email } } }))
    fail('CONFLICT', `${email} is already a member of the team`)
  if (await tx.db.teamInvitation.count({ where: { ...openInvitation(), teamId: team.id, email } }))
    fail('CONFLICT', `${email} already has an open invitation`)
  if ((await takenSeats(tx, team.id)) >= lasting.teams.seatsPerTeam) fail('MAX_TEAM_SEATS_REACHED')
  const token = randomBytes(32).toString('base64url')
  const expiresAt = new Date(Date.now() + holdsMs)
  const data = { id: newId(), teamId: team.id, email, role, inviterId, tokenHash: tokenHash(token), expiresAt }
  const made = await tx.db.teamInvitation.create({ data, select: invitationFields })
  await takeInvitation(tx, { team, email, inviterId, sessionId })
  const { name: inviter } = await personOf(tx.db, inviterId)
  const waitSeconds = await orderMail(app, tx, { kind: 'invitation', to: email, token, team: team.name, inviter })
  if (waitSeconds !== null)
    failFor(waitSeconds, 'API_RATE_LIMIT_EXCEEDED', `${email} has received too many invitations; try again later`)
  return made
}

/**
 * Frees the seat and makes the token void.
 * @throws TEAM_NOT_FOUND when the caller is not in the team; FORBIDDEN when the caller is a collaborator; NOT_FOUND when there is no such
 * invitation; INVALID_STATE when it was accepted.
 */
export async function revokeInvitation(ctx: Context, teamId: string, id: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    requireManager(await lockOwnTeam(tx, ctx.principal.userId, teamId))
    const where = { id, teamId, status: { not: 'revoked' } } as const
    const { status } = (await tx.db.teamInvitation.findFirst({ where })) ?? fail('NOT_FOUND', 'Invitation not found')
    if (status === 'accepted') fail('INVALID_STATE', 'The invitation was accepted; remove the member instead')
    await tx.db.teamInvitation.update({ where: { id }, data: { status: 'revoked' } })
    return { id, deleted: true }
  })
}

/**
 * Takes the seat that an invitation reserves.
 * @throws INVALID_TOKEN when the token is unknown, used, revoked or expired; FORBIDDEN when the caller has another address or has not
 * verified it.
 */
export async function acceptInvitation(ctx: Context, token: string): Promise<TeamRow> {
  const { userId } = ctx.principal
  return await write(ctx, async (tx) => {
    const where = { tokenHash: tokenHash(token) }
    const named = await tx.db.teamInvitation.findUnique({ where, select: { teamId: true } })
    // Both locks stop other transactions from counting seats, so the seat belongs to the invitation or to the new member, never to both.
    const team = (named && (await lockPaidTeam(tx, named.teamId))) ?? fail('INVALID_TOKEN')
    const open = await tx.db.teamInvitation.findUnique({ where: { ...where, ...openInvitation() } })
    const { id, role, email } = open ?? fail('INVALID_TOKEN')
    // The end of the person's account takes this lock before it looks for memberships.
    const person = await lockUser(tx, userId)
    if (!person?.emailVerified || person.email !== email)
      fail('FORBIDDEN', 'The invitation is for another e-mail address, or yours is not verified')
    await tx.db.teamInvitation.update({ where: { id }, data: { status: 'accepted' } })
    await tx.db.teamMember.createMany({ data: { teamId: team.id, userId, role }, skipDuplicates: true })
    await touch(tx, team.id)
    return await readTeam(tx.db, userId, team.id)
  })
}

/** The name of its team, for whoever holds the token. @throws INVALID_TOKEN when the token is unknown, used, revoked or expired. */
export async function invitedTeamName({ app }: Context, token: string): Promise<string> {
  const where = { ...openInvitation(), tokenHash: tokenHash(token), team: { deletedAt: null } }
  const open = await app.db.teamInvitation.findFirst({ where, select: { team: { select: { name: true } } } })
  return (open ?? fail('INVALID_TOKEN')).team.name
}

/** Returns the value of `team_invitations.tokenHash`: SHA-256, 32 bytes. The token has 256 random bits, so it needs no slow hash. */
function tokenHash(token: string): Buffer<ArrayBuffer> {
  return createHash('sha256').update(token).digest()
}

// Invitations to a team: each reserves a seat for seven days, for the person who proves ownership of the e-mail address.
import { createHash, randomBytes } from 'node:crypto'
import { orderMail } from '../accounts/mail/order.ts'
import { holdPlan } from '../billing/hold-plan.ts'
import { takenSeatsSql } from '../billing/team-fit.sql.ts'
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import { fail, failFor } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { requireManager } from '../core/roles.ts'
import { type HeldTeam, holdOwnTeam, holdTeam } from './hold.ts'
import type { Invite } from './input.ts'
import { type Invitation, takeInvitation } from './invitation-budget.ts'
import { touch } from './members.ts'
import { type InvitationRow, invitationColumns, readTeam, type TeamRow } from './read.ts'

const holdsDays = 7

/**
 * By a manager of the team.
 * @throws TEAM_NOT_FOUND when the caller is not in the team; FORBIDDEN when the caller is a collaborator; and the errors of
 * {@link inviteIn}.
 */
export async function inviteToTeam(ctx: Context, teamId: string, input: Invite): Promise<InvitationRow> {
  const { userId, credentialId } = ctx.principal
  return await write(ctx, async (tx) => {
    const team = await holdOwnTeam(tx, userId, teamId)
    requireManager(team)
    return await inviteIn(ctx.app, tx, team, { ...input, inviterId: userId, sessionId: credentialId })
  })
}

/**
 * Invites somebody to a locked team. The mail is sent when the transaction commits.
 * @throws CONFLICT when the address belongs to a member or has an open invitation; MAX_TEAM_SEATS_REACHED when no seat is free, exact under
 * a race; SUBSCRIPTION_INACTIVE when the owner's subscription is inactive; API_RATE_LIMIT_EXCEEDED when {@link takeInvitation} throws it,
 * or when the address was sent too many mails.
 */
export async function inviteIn(
  app: App,
  tx: Sql,
  team: HeldTeam,
  invite: Invite & Pick<Invitation, 'inviterId' | 'sessionId'>,
): Promise<InvitationRow> {
  const { inviterId, sessionId } = invite
  const { lasting, active } = await holdPlan(tx, team.ownerId)
  if (!active) fail('SUBSCRIPTION_INACTIVE')
  const { rows } = await tx.query<{ inviter: string; isMember: boolean; isInvited: boolean; taken: number }>(
    `with open as (
       select email from team_invitations where "teamId" = $1 and status = 'pending' and "expiresAt" > clock_timestamp()
     )
     select (select name from users where id = $3) as inviter,
       exists (select from team_members m join users u on u.id = m."userId" where m."teamId" = $1 and lower(u.email) = $2) as "isMember",
       exists (select from open where email = $2) as "isInvited",
       ${takenSeatsSql('$1')} as taken`,
    [team.id, invite.email, inviterId],
  )
  const found = rows[0] as (typeof rows)[number]
  if (found.isMember) fail('CONFLICT', `${invite.email} is already a member of the team`)
  if (found.isInvited) fail('CONFLICT', `${invite.email} already has an open invitation`)
  if (found.taken >= lasting.teams.seatsPerTeam) fail('MAX_TEAM_SEATS_REACHED')
  const token = randomBytes(32).toString('base64url')
  const made = await tx.query<InvitationRow>(
    `insert into team_invitations (id, "teamId", email, role, "tokenHash", "inviterId", "expiresAt")
     values ($1, $2, $3, $4, $5, $6, clock_timestamp() + make_interval(days => $7)) returning ${invitationColumns}`,
    [newId(), team.id, invite.email, invite.role, tokenHash(token), inviterId, holdsDays],
  )
  await takeInvitation(tx, { team, email: invite.email, inviterId, sessionId })
  const waitSeconds = await orderMail(app, tx, {
    kind: 'invitation',
    to: invite.email,
    token,
    team: team.name,
    inviter: found.inviter,
  })
  if (waitSeconds !== null)
    failFor(waitSeconds, 'API_RATE_LIMIT_EXCEEDED', `${invite.email} has received too many invitations; try again later`)
  return made.rows[0] as InvitationRow
}

/**
 * Frees the seat and makes the token void.
 * @throws TEAM_NOT_FOUND when the caller is not in the team; FORBIDDEN when the caller is a collaborator; NOT_FOUND when there is no such
 * invitation; INVALID_STATE when it was accepted.
 */
export async function revokeInvitation(ctx: Context, teamId: string, id: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    requireManager(await holdOwnTeam(tx, ctx.principal.userId, teamId))
    const { rows } = await tx.query<{ status: string }>(
      `select status::text as status from team_invitations where id = $1 and "teamId" = $2 and status <> 'revoked'`,
      [id, teamId],
    )
    const { status } = rows[0] ?? fail('NOT_FOUND', 'Invitation not found')
    if (status === 'accepted') fail('INVALID_STATE', 'The invitation was accepted; remove the member instead')
    await tx.query(`update team_invitations set status = 'revoked' where id = $1`, [id])
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
    const { rows: named } = await tx.query<{ teamId: string }>('select "teamId" from team_invitations where "tokenHash" = $1', [
      tokenHash(token),
    ])
    const team = (named[0] && (await holdTeam(tx, named[0].teamId))) ?? fail('INVALID_TOKEN')
    // Both locks stop other transactions from counting seats, so the seat belongs to the invitation or to the new member, never to both.
    await holdPlan(tx, team.ownerId)
    const { rows } = await tx.query<{ id: string; role: string; isTheirs: boolean }>(
      `select i.id, i.role::text as role, u."emailVerified" and lower(u.email) = i.email as "isTheirs"
       from team_invitations i, users u where i."tokenHash" = $1 and u.id = $2
         and i.status = 'pending' and i."expiresAt" > clock_timestamp()`,
      [tokenHash(token), userId],
    )
    const invitation = rows[0] ?? fail('INVALID_TOKEN')
    if (!invitation.isTheirs) fail('FORBIDDEN', 'The invitation is for another e-mail address, or yours is not verified')
    await tx.query(`update team_invitations set status = 'accepted' where id = $1`, [invitation.id])
    await tx.query(`insert into team_members ("teamId", "userId", role) values ($1, $2, $3::team_role) on conflict do nothing`, [
      team.id,
      userId,
      invitation.role,
    ])
    await touch(tx, team.id)
    return await readTeam(tx, userId, team.id)
  })
}

/** Returns the value of `team_invitations.tokenHash`: SHA-256, 32 bytes. The token has 256 random bits, so it needs no slow hash. */
function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

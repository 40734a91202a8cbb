// Read queries for teams: teams as their members see them, and their members, invitations and keys.
import { type ApiKeyRow, activeKeys, keyFields } from '../accounts/keys/api-keys.ts'
import { planInForce, planOf } from '../billing/plans.ts'
import type { Context } from '../core/context.ts'
import type { Db } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import { loadFound } from '../core/graph/load.ts'
import type { TeamRole } from '../core/principal.ts'
import { requireManager } from '../core/roles.ts'
import type { Prisma, TeamInvitation } from '../generated/prisma/client.ts'

/** A team as one of its members sees it. */
export interface TeamRow {
  id: string
  name: string
  ownerId: string
  /** The role of the member who reads it. */
  role: TeamRole
  membersCount: number
  /** The seats that the owner's plan gives each team. Members including the owner, and open invitations, take seats. */
  seats: number
  /** False while the owner's subscription is inactive. */
  active: boolean
  createdAt: Date
  updatedAt: Date
}

export interface MemberRow {
  userId: string
  email: string
  name: string
  role: TeamRole
  joinedAt: Date
}

export type InvitationRow = Pick<TeamInvitation, keyof typeof invitationFields>

/** Maximum number of rows in one response. */
export const mostTeams = 1_000
export const mostInvitations = 1_000

/** Returns the teams of the user, oldest first. With `teamId`, returns that team only, or none if the user is not in it. */
export async function readTeams(db: Prisma.TransactionClient, userId: string, teamId?: string): Promise<TeamRow[]> {
  const paid = { select: { subscription: { select: { plan: true, status: true, currentPeriodEnd: true } } } }
  const counted = { select: { members: true } }
  const fields = { id: true, name: true, ownerId: true, createdAt: true, updatedAt: true, owner: paid, _count: counted }
  const rows = await db.teamMember.findMany({
    where: { userId, teamId, team: { deletedAt: null } },
    select: { role: true, team: { select: fields } },
    orderBy: [{ team: { createdAt: 'asc' } }, { teamId: 'asc' }],
    take: mostTeams,
  })
  const now = new Date()
  return rows.map(({ role, team: { owner, _count, ...team } }) => {
    const plan = owner.subscription ? planInForce(owner.subscription, now) : planOf('free')
    const active = owner.subscription?.status !== 'inactive'
    return { ...team, role, membersCount: _count.members, seats: plan.teams.seatsPerTeam, active }
  })
}

/** @throws TEAM_NOT_FOUND when there is no such team or the user is not in it. */
export async function readTeam(db: Prisma.TransactionClient, userId: string, teamId: string): Promise<TeamRow> {
  return (await readTeams(db, userId, teamId))[0] ?? fail('TEAM_NOT_FOUND')
}

export const memberFields = {
  user: { select: { id: true, email: true, name: true } },
  role: true,
  joinedAt: true,
} as const
const members = { select: memberFields, orderBy: [{ joinedAt: 'asc' }, { userId: 'asc' }] } satisfies Prisma.Team$membersArgs

type StoredMember = Omit<MemberRow, 'userId' | 'email' | 'name'> & { user: { id: string; email: string; name: string } }

export function memberRow({ user: { id, email, name }, role, joinedAt }: StoredMember): MemberRow {
  return { userId: id, email, name, role, joinedAt }
}

/** Returns the members in the order in which they joined. @throws TEAM_NOT_FOUND when the caller is not in the team. */
export async function membersOf(ctx: Context, team: TeamRow): Promise<MemberRow[]> {
  await roleIn(ctx, team.id)
  return await listOf(ctx, 'members', team.id, async (where) => {
    const teams = await ctx.app.db.team.findMany({ where, select: { id: true, members } })
    return teams.map((row) => [row.id, row.members.map(memberRow)])
  })
}

export const invitationFields = { id: true, email: true, role: true, status: true, expiresAt: true, createdAt: true } as const
const invitations = {
  where: { status: { not: 'revoked' } },
  select: invitationFields,
  orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  take: mostInvitations,
} satisfies Prisma.Team$invitationsArgs

/** A pending invitation past its expiry reads as `expired`. */
function invitationRow(row: InvitationRow, now: Date): InvitationRow {
  return row.status === 'pending' && row.expiresAt <= now ? { ...row, status: 'expired' } : row
}

/**
 * Returns the invitations that were not revoked, newest first.
 * @throws TEAM_NOT_FOUND when the caller is not in the team; FORBIDDEN when the caller is a collaborator.
 */
export async function invitationsOf(ctx: Context, team: TeamRow): Promise<InvitationRow[]> {
  requireManager({ role: await roleIn(ctx, team.id) })
  return await listOf(ctx, 'invitations', team.id, async (where) => {
    const teams = await ctx.app.db.team.findMany({ where, select: { id: true, invitations } })
    const now = new Date()
    return teams.map((row) => [row.id, row.invitations.map((one) => invitationRow(one, now))])
  })
}

/** Returns the id of the person who made an invitation; null if none is stored. */
export async function inviterOf(ctx: Context, id: string): Promise<string | null> {
  return await loadFound(ctx, 'inviters', id, null, async (ids) => {
    const where = { id: { in: [...ids] } }
    const rows = await ctx.app.db.teamInvitation.findMany({ where, select: { id: true, inviterId: true } })
    return new Map(rows.map((row) => [row.id, row.inviterId]))
  })
}

const revokedKeys = {
  where: { revokedAt: { not: null } },
  select: keyFields,
  orderBy: [{ revokedAt: 'desc' }, { id: 'desc' }],
  take: 100,
} satisfies Prisma.Workspace$apiKeysArgs

/**
 * Returns the active keys, oldest first.
 * @throws TEAM_NOT_FOUND when the caller is not in the team; FORBIDDEN when the caller is a collaborator.
 */
export async function keysOf(ctx: Context, team: TeamRow): Promise<ApiKeyRow[]> {
  return await keysBy(ctx, 'keys', team, activeKeys)
}

/**
 * Returns the keys that were revoked last, at most 100, newest first.
 * @throws TEAM_NOT_FOUND when the caller is not in the team; FORBIDDEN when the caller is a collaborator.
 */
export async function revokedKeysOf(ctx: Context, team: TeamRow): Promise<ApiKeyRow[]> {
  return await keysBy(ctx, 'revoked keys', team, revokedKeys)
}

/** Reads keys by the workspace, which has an index. */
async function keysBy(
  ctx: Context,
  name: string,
  team: TeamRow,
  apiKeys: typeof activeKeys | typeof revokedKeys,
): Promise<ApiKeyRow[]> {
  requireManager({ role: await roleIn(ctx, team.id) })
  return await listOf(ctx, name, team.id, async (where) => {
    const teams = await ctx.app.db.team.findMany({ where, select: { id: true, workspace: { select: { apiKeys } } } })
    return teams.map((row) => [row.id, row.workspace.apiKeys])
  })
}

/**
 * Returns the caller's present role, because a {@link TeamRow} may be a stored answer of an idempotent request. One statement reads the
 * roles in all teams of a request (DataLoader).
 * @throws TEAM_NOT_FOUND when the caller is not in the team.
 */
async function roleIn(ctx: Context, teamId: string): Promise<TeamRole> {
  const { userId } = ctx.principal
  const role = await loadFound(ctx, 'own roles', teamId, null, async (ids) => {
    const where = { userId, teamId: { in: [...ids] } }
    const rows = await ctx.app.db.teamMember.findMany({ where, select: { teamId: true, role: true } })
    return new Map(rows.map((row) => [row.teamId, row.role]))
  })
  return role ?? fail('TEAM_NOT_FOUND')
}

/** Returns the rows of one team, read in one statement with those of the other teams of the request (DataLoader). */
async function listOf<Row>(
  ctx: Context,
  name: string,
  teamId: string,
  read: (where: Prisma.TeamWhereInput) => Promise<[teamId: string, rows: Row[]][]>,
): Promise<Row[]> {
  return await loadFound(ctx, `${name} of teams`, teamId, [], async (ids) => new Map(await read({ id: { in: [...ids] } })))
}

export interface ListedTeam {
  id: string
  name: string
  owner: string
  membersCount: number
  createdAt: Date
}

/** Returns all teams, oldest first, for operator commands. */
export async function listTeams(db: Db): Promise<ListedTeam[]> {
  const owner = { select: { email: true } }
  const rows = await db.team.findMany({
    where: { deletedAt: null },
    select: { id: true, name: true, owner, createdAt: true, _count: { select: { members: true } } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  return rows.map(({ id, name, owner, createdAt, _count }) => ({
    id,
    name,
    owner: owner.email,
    createdAt,
    membersCount: _count.members,
  }))
}

/** Returns the members of a team, for operator commands. @throws TEAM_NOT_FOUND when there is no such team. */
export async function listMembers(db: Db, teamId: string): Promise<MemberRow[]> {
  const team = await db.team.findUnique({ where: { id: teamId, deletedAt: null }, select: { members } })
  return team?.members.map(memberRow) ?? fail('TEAM_NOT_FOUND')
}

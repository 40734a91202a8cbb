// Read queries for teams: teams as their members see them, and their members, invitations and keys.
import type pg from 'pg'
import { type ApiKeyRow, keyColumns } from '../accounts/service.ts'
import { planInForceSql, planOf } from '../billing/plans.ts'
import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import { load } from '../core/graph/load.ts'
import type { TeamRole } from '../core/principal.ts'
import { requireManager } from '../core/roles.ts'
import type { TeamInvitationStatus } from '../generated/prisma/client.ts'

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

export interface InvitationRow {
  id: string
  email: string
  role: TeamRole
  status: TeamInvitationStatus
  expiresAt: Date
  createdAt: Date
}

/** Maximum number of rows in one response. */
export const mostTeams = 1_000
export const mostInvitations = 1_000

/** Returns the teams of the user, oldest first. With `teamId`, returns that team only, or none if the user is not in it. */
export async function readTeams(tx: Sql, userId: string, teamId: string | null = null): Promise<TeamRow[]> {
  const { rows } = await tx.query<Omit<TeamRow, 'seats'> & { plan: string }>(
    `select t.id, t.name, t."ownerId", m.role::text as role, t."createdAt", t."updatedAt",
       (select count(*)::int from team_members c where c."teamId" = t.id) as "membersCount",
       ${planInForceSql('s')} as plan
     from team_members m
     join teams t on t.id = m."teamId" and t."deletedAt" is null
     join subscriptions s on s."userId" = t."ownerId"
     where m."userId" = $1 and ($2::uuid is null or t.id = $2) order by t."createdAt", t.id limit $3`,
    [userId, teamId, mostTeams],
  )
  return rows.map(({ plan, ...team }) => ({ ...team, seats: planOf(plan).teams.seatsPerTeam }))
}

/** @throws TEAM_NOT_FOUND when there is no such team or the user is not in it. */
export async function readTeam(tx: Sql, userId: string, teamId: string): Promise<TeamRow> {
  return (await readTeams(tx, userId, teamId))[0] ?? fail('TEAM_NOT_FOUND')
}

export const memberColumns = 'u.id as "userId", u.email, u.name, m.role::text as role, m."joinedAt"'

/** Returns the members in the order in which they joined. @throws TEAM_NOT_FOUND when the caller is not in the team. */
export async function membersOf(ctx: Context, team: TeamRow): Promise<MemberRow[]> {
  return await inTeam<MemberRow>(ctx, team.id, {
    name: 'members',
    list: `select ${memberColumns}, u.id from team_members m join users u on u.id = m."userId" where m."teamId" = me."teamId"`,
    order: 'one."joinedAt", one.id',
  })
}

/** SQL: the columns of {@link InvitationRow}. A pending invitation past its expiry reads as `expired`. */
export const invitationColumns = `id, email, role::text as role, "expiresAt", "createdAt",
  case when status = 'pending' and "expiresAt" <= now() then 'expired' else status::text end as status`

/**
 * Returns the invitations that were not revoked, newest first.
 * @throws TEAM_NOT_FOUND when the caller is not in the team; FORBIDDEN when the caller is a collaborator.
 */
export async function invitationsOf(ctx: Context, team: TeamRow): Promise<InvitationRow[]> {
  return await inTeam<InvitationRow>(ctx, team.id, {
    name: 'invitations',
    list: `select ${invitationColumns} from team_invitations where "teamId" = me."teamId" and status <> 'revoked'
      order by "createdAt" desc, id desc limit ${mostInvitations}`,
    order: 'one."createdAt" desc, one.id desc',
    ofManagers: true,
  })
}

/** Returns the id of the person who made an invitation; null if none is stored. */
export async function inviterOf(ctx: Context, id: string): Promise<string | null> {
  return await load<string | null>(ctx, 'inviters', id, async (ids) => {
    const { rows } = await ctx.app.pool.query<{ id: string; inviterId: string | null }>(
      'select id, "inviterId" from team_invitations where id = any($1::uuid[])',
      [ids],
    )
    const found = new Map(rows.map((row) => [row.id, row.inviterId]))
    return ids.map((one) => found.get(one) ?? null)
  })
}

const ofTeam = `"workspaceId" = (select "workspaceId" from teams where id = me."teamId")`

/**
 * Returns the active keys, oldest first.
 * @throws TEAM_NOT_FOUND when the caller is not in the team; FORBIDDEN when the caller is a collaborator.
 */
export async function keysOf(ctx: Context, team: TeamRow): Promise<ApiKeyRow[]> {
  return await inTeam<ApiKeyRow>(ctx, team.id, {
    name: 'keys',
    list: `select ${keyColumns} from api_keys where ${ofTeam} and "revokedAt" is null`,
    order: 'one."createdAt", one.id',
    ofManagers: true,
  })
}

/**
 * Returns the keys that were revoked last, at most 100, newest first.
 * @throws TEAM_NOT_FOUND when the caller is not in the team; FORBIDDEN when the caller is a collaborator.
 */
export async function revokedKeysOf(ctx: Context, team: TeamRow): Promise<ApiKeyRow[]> {
  return await inTeam<ApiKeyRow>(ctx, team.id, {
    name: 'revoked keys',
    list: `select ${keyColumns}, "revokedAt" from api_keys where ${ofTeam} and "revokedAt" is not null
      order by "revokedAt" desc, id desc limit 100`,
    order: 'one."revokedAt" desc, one.id desc',
    ofManagers: true,
  })
}

interface KeyOrigin {
  userId: string
  revokedAt: Date | null
}

/** Returns the person who created a key, and the time of its revocation. Returns null for an unknown key. */
export async function originOfKey(ctx: Context, id: string): Promise<KeyOrigin | null> {
  return await load<KeyOrigin | null>(ctx, 'origins of keys', id, async (ids) => {
    const { rows } = await ctx.app.pool.query<KeyOrigin & { id: string }>(
      'select id, "userId", "revokedAt" from api_keys where id = any($1::uuid[])',
      [ids],
    )
    const found = new Map(rows.map((row) => [row.id, row]))
    return ids.map((one) => found.get(one) ?? null)
  })
}

interface InTeam {
  name: string
  /** SQL: the rows of the team `me."teamId"`, each with an `id`. */
  list: string
  order: string
  /** Set if collaborators may not read the rows. */
  ofManagers?: boolean
}

/**
 * Returns the rows of one team, loaded in one query with those of the other teams of the same request (DataLoader). The query also reads
 * the caller's membership and role, because a {@link TeamRow} may be a stored answer of an idempotent request.
 * @throws TEAM_NOT_FOUND when the caller is not in the team; FORBIDDEN when `ofManagers` is set and the caller is a collaborator.
 */
async function inTeam<Row extends object>(ctx: Context, id: string, { name, list, order, ofManagers }: InTeam): Promise<Row[]> {
  const seen = await load(ctx, `${name} of teams`, id, async (ids) => {
    const { rows } = await ctx.app.pool.query<Row & { teamId: string; ownRole: TeamRole; id: string | null }>(
      `select me."teamId", me.role::text as "ownRole", one.* from team_members me
       left join lateral (${list}) one on ${ofManagers ? `me.role <> 'collaborator'` : 'true'}
       where me."teamId" = any($1::uuid[]) and me."userId" = $2 order by ${order}`,
      [ids, ctx.principal.userId],
    )
    const found = Map.groupBy(rows, ({ teamId }) => teamId)
    return ids.map((one) => found.get(one) ?? [])
  })
  const { ownRole } = seen[0] ?? fail('TEAM_NOT_FOUND')
  if (ofManagers) requireManager({ role: ownRole })
  // A team without such rows gives one row that holds only the caller's role.
  return seen.filter((row) => row.id !== null)
}

export interface ListedTeam {
  id: string
  name: string
  owner: string
  membersCount: number
  createdAt: Date
}

/** Returns all teams, oldest first, for operator commands. */
export async function listTeams(pool: pg.Pool): Promise<ListedTeam[]> {
  const { rows } = await pool.query<ListedTeam>(
    `select t.id, t.name, u.email as owner, t."createdAt",
       (select count(*)::int from team_members m where m."teamId" = t.id) as "membersCount"
     from teams t join users u on u.id = t."ownerId" where t."deletedAt" is null order by t."createdAt", t.id`,
  )
  return rows
}

/** Returns the members of a team, for operator commands. @throws TEAM_NOT_FOUND when there is no such team. */
export async function listMembers(pool: pg.Pool, teamId: string): Promise<MemberRow[]> {
  const { rows } = await pool.query<MemberRow>(
    `select ${memberColumns} from team_members m join teams t on t.id = m."teamId" and t."deletedAt" is null
     join users u on u.id = m."userId" where t.id = $1 order by m."joinedAt", m."userId"`,
    [teamId],
  )
  // The owner is always a member, so no rows means no team.
  return rows.length > 0 ? rows : fail('TEAM_NOT_FOUND')
}

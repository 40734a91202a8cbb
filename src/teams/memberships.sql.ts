// SQL of memberships that open streams depend on.
import type { Sql } from '../core/database/database.ts'
import type { TeamRole } from '../core/principal.ts'

export interface Membership {
  teamId: string
  userId: string
}

/** Returns for each pair the person's role; null if the person is not in the team, or the team is deleted (primary key of members). */
export async function readRoles(sql: Sql, pairs: readonly Membership[]): Promise<(TeamRole | null)[]> {
  const { rows } = await sql.query<{ role: TeamRole | null }>(
    `select (
       select m.role::text from team_members m join teams t on t.id = m."teamId" and t."deletedAt" is null
       where m."teamId" = p.team and m."userId" = p.person
     ) as role
     from unnest($1::uuid[], $2::uuid[]) with ordinality as p(team, person, i) order by p.i`,
    [pairs.map(({ teamId }) => teamId), pairs.map(({ userId }) => userId)],
  )
  return rows.map(({ role }) => role)
}

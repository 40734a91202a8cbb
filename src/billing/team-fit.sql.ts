// SQL of the teams and seats that count against a plan.
import type { Sql } from '../core/database/database.ts'

/** A team that is not deleted, and its taken seats: members including the owner, and invitations that can still be accepted. */
export interface OwnedTeam {
  name: string
  seats: number
}

/** SQL: the number of taken seats of a team. `team` is an SQL expression for the team's id. */
function takenSeatsSql(team: string): string {
  return `((select count(*) from team_members m where m."teamId" = ${team}) + (
    select count(*) from team_invitations i
    where i."teamId" = ${team} and i.status = 'pending' and i."expiresAt" > clock_timestamp()
  ))::int`
}

/** The number of taken seats of a team. Exact while the owner's subscription is locked. */
export async function takenSeats(tx: Sql, teamId: string): Promise<number> {
  const { rows } = await tx.query<{ taken: number }>(`select ${takenSeatsSql('$1')} as taken`, [teamId])
  return rows[0]?.taken as number
}

/** The teams of an owner, in the order in which they were created. Exact while the owner's subscription is locked. */
export async function ownedTeams(tx: Sql, ownerId: string): Promise<OwnedTeam[]> {
  const { rows } = await tx.query<OwnedTeam>(
    `select t.name, ${takenSeatsSql('t.id')} as seats
     from teams t where t."ownerId" = $1 and t."deletedAt" is null order by t."createdAt", t.id`,
    [ownerId],
  )
  return rows
}

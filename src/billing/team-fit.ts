// Checks that a plan allows the teams and seats that somebody owns.
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import type { Plan } from './plans.ts'
import { type OwnedTeam, ownedTeams } from './team-fit.sql.ts'

/** @throws PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS when the teams exceed the plan, with what to reduce. Exact while the subscription is locked. */
export async function refuseUnlessTeamsFit(tx: Sql, ownerId: string, plan: Plan): Promise<void> {
  const fault = await findTeamFault(tx, ownerId, plan)
  if (fault) fail('PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS', fault)
}

/** Describes how the owner's teams exceed the plan; null if all fit. */
export async function findTeamFault(tx: Sql, ownerId: string, plan: Plan): Promise<string | null> {
  return faultOfTeams(plan, await ownedTeams(tx, ownerId))
}

/** Describes how teams and seats exceed the plan; null if all fit. Pure. */
export function faultOfTeams({ name, teams }: Pick<Plan, 'name' | 'teams'>, owned: readonly OwnedTeam[]): string | null {
  const surplus = owned.length - teams.maxOwned
  const crowded = owned.filter(({ seats }) => seats > teams.seatsPerTeam)
  if (surplus > 0) {
    const allowance = teams.maxOwned === 0 ? 'has no teams' : `has ${teams.maxOwned} teams of ${teams.seatsPerTeam} seats`
    return `${name} ${allowance} and you own ${owned.length}: delete ${surplus} of ${owned.map((team) => team.name).join(', ')}`
  }
  if (crowded.length === 0) return null
  const seats = crowded.map((team) => `${team.name} from ${team.seats} to ${teams.seatsPerTeam}`).join(', ')
  return `${name} has ${teams.seatsPerTeam} seats in a team, open invitations included: reduce ${seats}`
}

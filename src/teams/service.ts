// Creates teams: a workspace that several users share, on its owner's subscription.
import type pg from 'pg'
import { z } from 'zod'
import { issueApiKey, userIdOf } from '../accounts/service.ts'
import type { Sql } from '../core/database/database.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { newId } from '../core/id.ts'
import { parse, text } from '../core/validation.ts'

const newTeam = z.object({ ownerEmail: z.string(), name: text(1, 100) })
export type NewTeam = z.input<typeof newTeam>

export interface CreatedTeam {
  teamId: string
  workspaceId: string
  apiKey: string
}

/**
 * Creates a team with its workspace, its owner as a member and a first key.
 * @throws VALIDATION_ERROR when the input is invalid; NOT_FOUND when the owner's address is unknown.
 */
export async function createTeam(pool: pg.Pool, input: NewTeam): Promise<CreatedTeam> {
  const { ownerEmail, name } = parse(newTeam, input)
  return await sqlTransaction(pool, async (tx) => {
    const userId = await userIdOf(tx, ownerEmail)
    const { teamId, workspaceId } = await insertTeam(tx, userId, name)
    const { key } = await issueApiKey(tx, { userId, workspaceId, teamId, name: 'First key' })
    return { teamId, workspaceId, apiKey: key }
  })
}

/** Inserts a team with a workspace and its owner as a member, in the caller's transaction. */
export async function insertTeam(tx: Sql, ownerId: string, name: string): Promise<{ teamId: string; workspaceId: string }> {
  const [teamId, workspaceId] = [newId(), newId()]
  await tx.query(`insert into workspaces (id, "ownerId") values ($1, $2)`, [workspaceId, ownerId])
  await tx.query(`insert into teams (id, "workspaceId", "ownerId", name) values ($1, $2, $3, $4)`, [
    teamId,
    workspaceId,
    ownerId,
    name,
  ])
  await tx.query(`insert into team_members ("teamId", "userId", role) values ($1, $2, 'owner')`, [teamId, ownerId])
  return { teamId, workspaceId }
}

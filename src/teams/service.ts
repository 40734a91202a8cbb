// Creates teams: a workspace that several users share, on its owner's subscription.
import { z } from 'zod'
import { issueApiKey } from '../accounts/keys/api-keys.ts'
import { insertWorkspace } from '../accounts/open-account.ts'
import { payerOf } from '../billing/service.ts'
import type { Db } from '../core/database/database.ts'
import { type Tx, transaction } from '../core/database/transaction.ts'
import { newId } from '../core/id.ts'
import { nameOf, parse } from '../core/validation.ts'

const newTeam = z.object({ ownerEmail: z.string(), name: nameOf(100) })
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
export async function createTeam(db: Db, input: NewTeam): Promise<CreatedTeam> {
  const { ownerEmail, name } = parse(newTeam, input)
  return await transaction(db, async (tx) => {
    const userId = await payerOf(tx, ownerEmail)
    const { teamId, workspaceId } = await insertTeam(tx, userId, name)
    const { key } = await issueApiKey(tx, { userId, workspaceId, teamId, name: 'First key' })
    return { teamId, workspaceId, apiKey: key }
  })
}

/** Inserts a team with a workspace and its owner as a member, in the caller's transaction. */
export async function insertTeam(tx: Tx, ownerId: string, name: string): Promise<{ teamId: string; workspaceId: string }> {
  const workspaceId = await insertWorkspace(tx, ownerId)
  const members = { create: { userId: ownerId, role: 'owner' } } as const
  const team = await tx.db.team.create({ data: { id: newId(), workspaceId, ownerId, name, members }, select: { id: true } })
  return { teamId: team.id, workspaceId }
}

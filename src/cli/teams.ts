// The operator's commands for teams.
import { type Command, Option } from 'commander'
import type { App } from '../core/app.ts'
import { readConfig } from '../core/config/config.ts'
import { type Tx, transaction } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { parse } from '../core/validation.ts'
import { inviteFields, teamIdOf } from '../teams/input.ts'
import { inviteIn } from '../teams/invitations.ts'
import type { LockedTeam } from '../teams/lock.sql.ts'
import { lockPaidTeam } from '../teams/lock.ts'
import { closeTeam } from '../teams/manage.ts'
import { listMembers, listTeams } from '../teams/read.ts'
import { createTeam } from '../teams/service.ts'
import { withApp, withDatabase } from './command-database.ts'
import { json, printFields, printRows } from './command-parts.ts'

export function addTeamCommands(gateway: Command): void {
  const id = () => new Option('--id <id>', 'id of the team').makeOptionMandatory()

  const team = gateway.command('team').description('teams')
  team
    .command('create')
    .description("create a team with its first API key, even above the limits of its owner's plan")
    .requiredOption('--owner <email>', 'e-mail address of the owner')
    .requiredOption('--name <name>', 'name of the team')
    .addOption(json())
    .action(async (options: { owner: string; name: string; json?: true }) => {
      const made = await withDatabase((db) => createTeam(db, { ownerEmail: options.owner, name: options.name }))
      printFields(options.json, { teamId: made.teamId, apiKey: made.apiKey })
    })
  team
    .command('list')
    .description('list all teams')
    .addOption(json())
    .action(async (options: { json?: true }) => {
      const teams = await withDatabase(listTeams)
      printRows(options.json, teams, (row) => [row.id, row.name, row.owner, row.membersCount, row.createdAt.toISOString()])
    })
  team
    .command('members')
    .description('list the members of a team')
    .addOption(id())
    .addOption(json())
    .action(async (options: { id: string; json?: true }) => {
      const members = await withDatabase((db) => listMembers(db, teamIdOf(options.id)))
      printRows(options.json, members, (row) => [row.userId, row.email, row.role, row.joinedAt.toISOString()])
    })
  team
    .command('invite')
    .description("invite a person by mail, in the owner's name")
    .addOption(id())
    .requiredOption('--email <email>', 'e-mail address of the person')
    .requiredOption('--role <role>', 'admin or collaborator')
    .addOption(json())
    .action(async ({ id: teamId, json: asJson, ...options }: { id: string; email: string; role: string; json?: true }) => {
      const invite = parse(inviteFields, options)
      const { config } = readConfig()
      if (!config.publicUrl && !config.consoleUrl)
        fail('INVALID_STATE', "Set PUBLIC_URL or CONSOLE_URL to the gateway's value: the link of the invitation leads there")
      const made = await onTeam(teamId, (app, tx, held) =>
        inviteIn(app, tx, held, { ...invite, inviterId: held.ownerId, sessionId: null }),
      )
      printFields(asJson, { ...made, expiresAt: made.expiresAt.toISOString(), createdAt: made.createdAt.toISOString() })
    })
  team
    .command('delete')
    .description('delete a team, log out its instances and delete them')
    .addOption(id())
    .action(async (options: { id: string }) => {
      await onTeam(options.id, closeTeam)
      console.log(`${options.id} is deleted`)
    })
}

/**
 * Changes a team, which leaves work for the gateway, in one transaction.
 * @throws TEAM_NOT_FOUND when there is no such team.
 */
async function onTeam<T>(teamId: string, work: (app: App, tx: Tx, team: LockedTeam) => Promise<T>): Promise<T> {
  return await withApp((app) =>
    transaction(app.db, async (tx) => {
      const team = await lockPaidTeam(tx, teamIdOf(teamId))
      return await work(app, tx, team ?? fail('TEAM_NOT_FOUND'))
    }),
  )
}

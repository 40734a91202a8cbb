// The operator's team commands work beside a running gateway.
import { beforeAll, expect, it } from 'vitest'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { command, commandProcess } from '../kit/command.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { until } from '../kit/until.ts'
import { nobody } from '../rest-compat/rig.ts'
import { mailsTo, newCrew, newPerson, newTeam, openOwnRig, type Rig, tokenTo } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openOwnRig()
})

const run = (...args: string[]) =>
  command(['team', ...args], { databaseUrl: rig.databaseUrl, env: { PUBLIC_URL: rig.gateway.url } })

async function refusal(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args)
  expect([code, stdout]).toEqual([1, ''])
  return stderr
}

it('lists the teams and their members', async () => {
  const { teamId, owner, admin, collaborator } = await newCrew(rig)
  const teams = JSON.parse((await run('list', '--json')).stdout)
  expect(teams).toEqual([{ id: teamId, name: 'Team', owner: owner.email, membersCount: 3, createdAt: expect.any(String) }])
  expect((await run('list')).stdout).toBe(`${[teamId, 'Team', owner.email, 3, teams[0].createdAt].join('  ')}\n`)
  const members = JSON.parse((await run('members', '--id', teamId.toUpperCase(), '--json')).stdout)
  expect(members.map(({ email, role }: Record<string, string>) => [email, role])).toEqual([
    [owner.email, 'owner'],
    [admin.email, 'admin'],
    [collaborator.email, 'collaborator'],
  ])
  expect((await run('members', '--id', teamId)).stdout.split('\n')).toHaveLength(4)
  for (const id of [nobody, 'nonsense']) expect(await refusal('members', '--id', id)).toMatch(/team/i)
})

it('prints a name on one line, without terminal control characters', async () => {
  const owner = await newPerson(rig)
  const { teamId } = await newTeam(rig, owner, 'Red\u001b[31m\r\nteam\u009b1m')
  const line = (await run('list')).stdout.split('\n').find((one) => one.startsWith(teamId))
  expect(line).toContain(`${teamId}  Red [31m team 1m  ${owner.email}  1  `)
  const { stderr } = await command(['account', 'plan', '--email', owner.email, '--plan', 'free'], {
    databaseUrl: rig.databaseUrl,
  })
  expect(stderr).toMatch(/^Free has no teams .* delete 1 of Red \[31m team 1m\n$/)
})

it('strips bidirectional control characters from text output, and escapes control characters in JSON', async () => {
  const name = 'Blue\u202eteam\u2066\u009b31m\u2028!'
  const { teamId } = await newTeam(rig, await newPerson(rig), name)
  const line = (await run('list')).stdout.split('\n').find((one) => one.startsWith(teamId))
  expect(line).toContain(`${teamId}  Blueteam 31m !  `)
  const { stdout } = await run('list', '--json')
  expect(stdout).not.toMatch(/[\x7f-\x9f\u2028\p{Bidi_Control}]/u)
  expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ id: teamId, name }))
})

it("invites by mail in the owner's name, with the same checks as the API", async () => {
  const owner = await newPerson(rig, 'pro', 'Olive')
  const guest = await newPerson(rig)
  const { teamId } = await newTeam(rig, owner)
  const args = ['invite', '--id', teamId, '--email', guest.email, '--role', 'admin']
  expect(JSON.parse((await run(...args, '--json')).stdout)).toMatchObject({
    email: guest.email,
    role: 'admin',
    status: 'pending',
  })
  const token = await tokenTo(rig, guest.email)
  expect(mailsTo(rig, guest.email)[0]).toMatch(/Subject: Invitation to the team "Team"\n\n"Olive" invites you/)
  const { body } = await guest.api.post('/api/teams/invitations/accept', { token })
  expect(body.data).toMatchObject({ id: teamId, role: 'admin' })
  expect(await refusal(...args)).toMatch(/already a member of the team/)
  expect(await refusal('invite', '--id', teamId, '--email', 'x', '--role', 'king')).toMatch(/email: .*role: /)
})

it('refuses to invite without PUBLIC_URL or CONSOLE_URL, and stores no invitation', async () => {
  const { teamId } = await newTeam(rig, await newPerson(rig))
  const args = ['team', 'invite', '--id', teamId, '--email', 'guest@example.com', '--role', 'admin']
  const { code, stderr } = await command(args, { databaseUrl: rig.databaseUrl })
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^Set PUBLIC_URL or CONSOLE_URL.*\n$/)])
  expect((await sql(rig.databaseUrl).query('select from team_invitations where "teamId" = $1', [teamId])).rowCount).toBe(0)
})

it('deletes a team with the same effects as a deletion by its owner', async () => {
  const owner = await newPerson(rig)
  const { teamId, workspaceId } = await newTeam(rig, owner)
  const { id } = await connectedInstance(rig.databaseUrl, { userId: owner.userId, workspaceId })
  expect((await run('delete', '--id', teamId)).stdout).toBe(`${teamId} is deleted\n`)
  expect((await owner.api.get(`/api/teams/${teamId}`)).status).toBe(404)
  await until(async () => {
    const { rows } = await sql(rig.databaseUrl).query('select "deletedAt" from instances where id = $1', [id])
    return rows[0].deletedAt !== null
  })
  expect(await refusal('delete', '--id', teamId)).toMatch(/team/i)
})

it('prints nothing but its result on standard output, also when a connection to the database breaks meanwhile', async () => {
  const databaseUrl = await cloneDatabase()
  const { email } = await createAccount(databaseUrl)
  const made = await command(['team', 'create', '--owner', email, '--name', 'Team', '--json'], { databaseUrl })
  const { teamId } = JSON.parse(made.stdout)
  const args = ['team', 'invite', '--id', teamId, '--email', 'ada@example.com', '--role', 'admin', '--json']
  const breakConnections = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'gateway-jobs'`
  const [invited] = await whileHeld(
    databaseUrl,
    ['select from teams where id = $1 for update', teamId],
    [() => commandProcess(args, { databaseUrl, env: { PUBLIC_URL: rig.gateway.url } })],
    [breakConnections],
  )
  expect(invited).toMatchObject({ code: 0, stderr: expect.stringContaining('job queue error') })
  expect(JSON.parse(invited?.stdout as string)).toMatchObject({ email: 'ada@example.com', status: 'pending' })
})

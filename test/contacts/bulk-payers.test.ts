// The bulk jobs of one payer run one at a time, in however many workspaces, and leave workers to others.
import { expect, it } from 'vitest'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { newPerson, newTeam } from '../teams/rig.ts'
import { addGroup, strangers } from './bulk-rig.ts'

it('the jobs of the workspaces that one account pays for are of one group, of which one job runs at a time', async () => {
  const databaseUrl = await cloneDatabase()
  const gateway = await openGateway({ databaseUrl, env: { ROLES: 'http' } })
  const rig = { databaseUrl, gateway, mailDir: '' }
  const pool = sql(databaseUrl)
  const start = async (payer: Awaited<ReturnType<typeof newPerson>>) => {
    const { teamId, workspaceId } = await newTeam(rig, payer)
    const groupId = await addGroup(databaseUrl, workspaceId)
    const answer = await payer.inTeam(teamId).post(`/api/contacts/groups/${groupId}/members`, { contactIds: strangers(100) })
    expect(answer.status).toBe(202)
  }
  const [payer, other] = await Promise.all([newPerson(rig), newPerson(rig)])
  for (const person of [payer, payer, other]) await start(person)
  const { rows } = await pool.query<{ group_id: string }>(
    `select group_id from pgboss.job where name = 'contact.bulk' order by created_on`,
  )
  expect(rows).toHaveLength(3)
  expect(rows[1]?.group_id).toBe(rows[0]?.group_id)
  expect(rows[2]?.group_id).not.toBe(rows[0]?.group_id)

  await openGateway({ databaseUrl })
  await until(async () => (await pool.query(`select from bulk_jobs where status = 'done'`)).rowCount === 3)
})

// A file that somebody sent to a team is not kept if the team is deleted while Meta gives it.
import { expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { newPerson, newTeam } from '../teams/rig.ts'
import { messageOf, openHookRig } from './hook-rig.ts'

it('a file that Meta gives after its team was deleted is not kept, and counts for nobody', async () => {
  const rig = await openHookRig()
  const own = { databaseUrl: rig.databaseUrl, gateway: rig.gateway, mailDir: '' }
  const owner = await newPerson(own)
  const { teamId, workspaceId } = await newTeam(own, owner)
  const number = rig.standIn.addNumber()
  const phone = { name: 'Shop', provider: 'cloud', settings: rig.standIn.settingsOf(number) }
  const { id } = (await owner.inTeam(teamId).post('/api/instances', phone)).body.data
  const file = rig.standIn.addMedia(number, 'image/png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))
  const given = Promise.withResolvers<void>()
  const reading = new RegExp(`^GET .*files/${file.id}$`)
  rig.standIn.addFault({ on: reading, effect: given.promise })
  expect(await rig.tell({ id, number }, { messages: [messageOf('image', { id: file.id })] })).toBe(200)
  await until(() => rig.standIn.count(reading) === 1)

  expect((await owner.api.delete(`/api/teams/${teamId}`)).status).toBe(200)
  const pool = sql(rig.databaseUrl)
  await until(async () => {
    const text = `select from pgboss.job where name = 'teams.closed' and state = 'completed' and data->>'workspaceId' = $1`
    return (await pool.query(text, [workspaceId])).rowCount === 1
  })
  given.resolve()
  await until(async () => {
    const text = `select from messages where "workspaceId" = $1 and not content ? 'media' and "mediaUrl" is null and "errorDetail" = 'Team not found'`
    return (await pool.query(text, [workspaceId])).rowCount === 1
  })
  expect((await pool.query('select from media where "workspaceId" = $1', [workspaceId])).rowCount).toBe(0)
})

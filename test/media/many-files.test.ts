// The very many files of a deleted team let no other deleted team wait.
import { expect, it, vi } from 'vitest'
import { mediaStore } from '../../src/media/open-store.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { newPerson, newTeam } from '../teams/rig.ts'

it('ends the webhooks of a team while the files of another one are removed, and removes the files of both in turns', async () => {
  const databaseUrl = await cloneDatabase()
  const gateway = await openGateway({ databaseUrl, env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32' } })
  const rig = { databaseUrl, gateway, mailDir: '' }
  const pool = sql(databaseUrl)
  const [first, second] = await Promise.all(
    [501, 1].map(async (files) => {
      const owner = await newPerson(rig)
      const team = await newTeam(rig, owner)
      await pool.query(
        `insert into media (id, "workspaceId", token, "mimeType", size, "storedAt")
         select gen_random_uuid(), $1, gen_random_uuid()::text, 'image/png', 1, now() from generate_series(1, $2::int)`,
        [team.workspaceId, files],
      )
      return { ...team, owner, close: () => owner.api.delete(`/api/teams/${team.teamId}`) }
    }),
  )
  if (!first || !second) throw new Error('two teams')
  const webhook = { url: 'http://127.0.0.1:9/', events: ['message.sent'] }
  expect((await second.owner.inTeam(second.teamId).post('/api/webhooks', webhook)).status).toBe(201)
  const [{ id: ofSecond } = { id: '' }] = (
    await pool.query<{ id: string }>('select id from media where "workspaceId" = $1', [second.workspaceId])
  ).rows

  const gate = Promise.withResolvers<void>()
  const removed: string[] = []
  vi.spyOn(mediaStore(gateway.app), 'remove').mockImplementation(async (id) => {
    removed.push(id)
    await gate.promise
  })
  await first.close()
  await until(() => removed.length === 1)
  await second.close()
  const ended = `select from webhook_endpoints where "workspaceId" = $1 and "deletedAt" is not null`
  await until(async () => (await pool.query(ended, [second.workspaceId])).rowCount === 1)
  const waiting = `select from pgboss.job where name = 'media.clear' and state < 'active' and data->>'workspaceId' = $1`
  await until(async () => (await pool.query(waiting, [second.workspaceId])).rowCount === 1)
  expect(removed).toHaveLength(1)
  expect((await pool.query('select from media where "storedAt" is not null')).rowCount).toBe(1)

  gate.resolve()
  await until(async () => (await pool.query('select from media')).rowCount === 0)
  expect(removed).toHaveLength(502)
  expect(removed.indexOf(ofSecond)).toBe(500)
})

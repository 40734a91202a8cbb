// Campaigns at rest are counted once, and again after each change of them or of their messages.
import { expect, it } from 'vitest'
import { keepRecipients } from '../../src/campaigns/expired.sql.ts'
import { statsOf } from '../../src/campaigns/stats.ts'
import { sql } from '../kit/database.ts'
import { atRest } from '../kit/invariants.ts'
import { openScene } from '../kit/scene.ts'
import { contextFor, openApp } from '../messages/rig.ts'
import { campaignTo, expectCreated, numbers, reach, recount } from './rig.ts'

it('counts campaigns at rest once, until one or a message of it changes, and many recipients in portions', async () => {
  const scene = await openScene({ env: { LOG_LEVEL: 'warn' } })
  const { databaseUrl, account, phone } = scene
  const client = scene.client()
  const ids: string[] = []
  for (const from of [0, 10]) {
    ids.push(expectCreated(await client.post('campaigns', campaignTo(phone.id, numbers(3, '5555', from)))))
  }
  const [id] = ids as [string]
  for (const one of ids) await reach(client, one, 'completed')
  await atRest(databaseUrl)

  const app = await openApp(databaseUrl)
  const names: string[] = []
  const query = (statement: { name: string }) => {
    names.push(statement.name)
    return app.pool.query(statement as never)
  }
  const watched = { ...app, pool: { query } } as unknown as typeof app
  const pool = sql(databaseUrl)
  /** Reads both in one request; returns how many statements counted. */
  const counts = async () => {
    const ctx = contextFor(watched, account)
    const [first] = await Promise.all(ids.map((one) => statsOf(ctx, one)))
    expect(first?.stats).toEqual(await recount(databaseUrl, id))
    return names.splice(0).filter((name) => name === 'campaigns.stats').length
  }
  const rest = async () => {
    const past = `"updatedAt" = now() - interval '3 minutes'`
    await pool.query(`update campaigns set ${past}, "lastActivityAt" = null where id = any($1)`, [ids])
    await pool.query(`update messages set ${past} where "campaignId" = any($1)`, [ids])
  }
  const aRead = `where id = (select id from messages where "campaignId" = $1 and status = 'read' limit 1)`

  expect([await counts(), await counts()], 'soon after the last change').toEqual([1, 1])
  await rest()
  expect([await counts(), await counts(), await counts()], 'at rest').toEqual([1, 0, 0])
  await pool.query(`update messages set status = 'failed', "failedAt" = now(), "updatedAt" = now() ${aRead}`, [id])
  expect(await counts(), 'after a receipt').toBe(1)
  await rest()
  await counts()
  const { rows } = await pool.query(`select * from messages ${aRead}`, [id])
  await keepRecipients(app.pool, rows)
  await pool.query('delete from messages where id = $1', [rows[0].id])
  expect([await counts(), await counts()], 'after a message expired').toEqual([1, 0])
  await pool.query(`update messages set status = 'queued' ${aRead}`, [id])
  expect([await counts(), await counts()], 'while a message waits').toEqual([1, 1])
  await pool.query('update campaigns set "recipientsCount" = 300000 where id = any($1)', [ids])
  const ctx = contextFor(watched, account)
  await Promise.all(ids.map((one) => statsOf(ctx, one)))
  expect(names.filter((name) => name === 'campaigns.stats')).toHaveLength(2)
})

// Sessions of the gateway are in UTC, whatever the time zone and date style of the server, the database or the role are.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { openDatabase } from '../../src/core/database/database.ts'
import { connectTo } from '../../src/core/database/dedicated.ts'
import { withPool } from '../../src/core/database/short-pool.ts'
import { cloneDatabase, sql } from '../kit/database.ts'

/** Shortly before midnight in UTC, so that the day differs too. */
const time = new Date('2026-03-01T23:30:15.123Z')

/** Returns the URL of a database whose sessions begin in another time zone, and show dates in a style that pg cannot read. */
async function foreignDatabase(search: string): Promise<string> {
  const url = Object.assign(new URL(await cloneDatabase()), { search })
  const name = url.pathname.slice(1)
  await sql(url.href).query(
    `alter database ${name} set timezone to 'Asia/Kolkata'; alter database ${name} set datestyle to 'German'`,
  )
  return url.href
}

it.each([
  ['', ''],
  [' whose address has options', `?options=${encodeURIComponent('-c search_path=public')}`],
])('Prisma and SQL agree on the times in a database%s', async (_, search) => {
  await using database = openDatabase(await foreignDatabase(search), () => {}, { max: 1 })
  const { db, pool } = database
  const [byPrisma, bySql] = [randomUUID(), randomUUID()]
  await db.mail.create({ data: { id: byPrisma, content: Buffer.from('mail'), createdAt: time } })
  await pool.query(`insert into mails (id, content, "createdAt") values ($1, '', $2)`, [bySql, time])

  const { rows } = await pool.query('select id, "createdAt", "createdAt"::date::text as day from mails order by id')
  const stored = { createdAt: time, day: '2026-03-01' }
  expect(rows).toEqual([byPrisma, bySql].sort().map((id) => ({ id, ...stored })))
  const read = await db.mail.findMany({ orderBy: { id: 'asc' }, select: { createdAt: true } })
  expect(read).toEqual([{ createdAt: time }, { createdAt: time }])
})

it('sessions of their own and pools of commands are in UTC, too', async () => {
  const url = await foreignDatabase('')
  const zone = `select current_setting('TimeZone') as zone, current_setting('DateStyle') as style, now()`
  const expected = [{ zone: 'UTC', style: expect.stringMatching(/^ISO/), now: expect.any(Date) }]
  await using session = await connectTo(url, 'test', 5_000)
  expect((await session.client.query(zone)).rows).toEqual(expected)
  expect((await withPool(url, { max: 1 }, (pool) => pool.query(zone))).rows).toEqual(expected)
})

// Proves that a transaction commits or throws; a lost connection is an error for the caller and never ends the process.
import { expect, it } from 'vitest'
import { openDatabase, transaction } from '../../src/core/database/database.ts'
import { cloneDatabase, sql } from '../kit/kit.ts'

async function open(): Promise<{ databaseUrl: string; database: ReturnType<typeof openDatabase> }> {
  const databaseUrl = await cloneDatabase()
  await sql(databaseUrl).query('create table notes (note text unique deferrable initially deferred)')
  return { databaseUrl, database: openDatabase(databaseUrl, () => {}) }
}

async function notes(databaseUrl: string): Promise<string[]> {
  return (await sql(databaseUrl).query<{ note: string }>('select note from notes order by 1')).rows.map(({ note }) => note)
}

it('throws when the connection is lost between two statements, and continues with another', async () => {
  const { databaseUrl, database } = await open()
  await using _ = database
  const broken = transaction(database.pool, async (tx) => {
    const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
    await tx.query(`insert into notes values ('lost')`)
    await sql(databaseUrl).query('select pg_terminate_backend($1)', [rows[0]?.pid])
    await tx.query('select 1')
  })
  await expect(broken).rejects.toThrow()
  await transaction(database.pool, (tx) => tx.query(`insert into notes values ('kept')`))
  expect(await notes(databaseUrl)).toEqual(['kept'])
})

it('throws when its commit became a rollback because an error was swallowed', async () => {
  const { databaseUrl, database } = await open()
  await using _ = database
  const spoilt = transaction(database.pool, async (tx) => {
    await tx.query(`insert into notes values ('spoilt')`)
    await tx.query('select 1 / 0').catch(() => {})
  })
  await expect(spoilt).rejects.toThrow('rolled back')
  expect(await notes(databaseUrl)).toEqual([])
})

it('throws when the commit itself fails', async () => {
  const { databaseUrl, database } = await open()
  await using _ = database
  const twice = transaction(database.pool, (tx) => tx.query(`insert into notes values ('twice'), ('twice')`))
  await expect(twice).rejects.toMatchObject({ code: '23505' })
  expect(await notes(databaseUrl)).toEqual([])
})

it('retries after a deadlock, without holding a second connection', async () => {
  const { databaseUrl, database } = await open()
  await using _ = database
  await sql(databaseUrl).query(`insert into notes values ('a'), ('b')`)
  let runs = 0
  let holding = 0
  const bothHold = Promise.withResolvers<void>()
  const both = (first: string, second: string) =>
    transaction(database.pool, async (tx) => {
      runs++
      await tx.query('select 1 from notes where note = $1 for update', [first])
      if (++holding === 2) bothHold.resolve()
      await bothHold.promise
      await tx.query('select 1 from notes where note = $1 for update', [second])
    })
  await Promise.all([both('a', 'b'), both('b', 'a')])
  // One of the two ran again; on a busy machine the deadlock may have occurred once more.
  expect(runs).toBeGreaterThanOrEqual(3)
  expect(database.pool.totalCount).toBeLessThanOrEqual(2)
})

// Proves that a transaction commits or throws; a lost connection is an error for the caller and never ends the process.
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Database, openDatabase, type Sql } from '../../src/core/database/database.ts'
import { sqlTransaction, transaction } from '../../src/core/database/transaction.ts'
import { newId } from '../../src/core/id.ts'
import { isTaken, isUnavailable } from '../../src/core/public-failure.ts'
import { cloneDatabase, sql } from '../kit/database.ts'

async function open(): Promise<{ databaseUrl: string; database: Database }> {
  const databaseUrl = await cloneDatabase()
  await sql(databaseUrl).query('create table notes (note text unique deferrable initially deferred)')
  return { databaseUrl, database: openDatabase(databaseUrl, () => {}) }
}

async function notes(databaseUrl: string): Promise<string[]> {
  return (await sql(databaseUrl).query<{ note: string }>('select note from notes order by 1')).rows.map(({ note }) => note)
}

type Run = <T>(database: Database, work: (tx: Sql) => Promise<T>) => Promise<T>

const kinds: Record<string, Run> = {
  'of Prisma Client': ({ db }, work) => transaction(db, work),
  'of SQL alone': ({ pool }, work) => sqlTransaction(pool, work),
}

describe.each(Object.entries(kinds))('a transaction %s', (_, run) => {
  it('throws when the connection is lost between two statements, and continues with another', async () => {
    const { databaseUrl, database } = await open()
    await using _ = database
    const broken = run(database, async (tx) => {
      const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
      await tx.query(`insert into notes values ('lost')`)
      await sql(databaseUrl).query('select pg_terminate_backend($1)', [rows[0]?.pid])
      await tx.query('select 1')
    })
    await expect(broken).rejects.toThrow()
    await run(database, (tx) => tx.query(`insert into notes values ('kept')`))
    expect(await notes(databaseUrl)).toEqual(['kept'])
  })

  it('may be repeated when the server ended it, because it took longer than `transaction_timeout` allows', async () => {
    const { database } = await open()
    await using _ = database
    const slow = run(database, async (tx) => {
      await tx.query('set local transaction_timeout = 50')
      await tx.query('select pg_sleep(60)')
    })
    expect(isUnavailable(await slow.catch((error: Error) => error))).toBe(true)
  })

  it('runs no statement that a part of its work asks for after another part has failed', async () => {
    const { databaseUrl, database } = await open()
    await using _ = database
    const failed = Promise.withResolvers<void>()
    let slow: Promise<unknown> | undefined
    const spoilt = run(database, async (tx) => {
      slow = tx
        .query('select 1')
        .then(() => failed.promise)
        .then(() => tx.query(`insert into notes values ('late')`))
      await Promise.all([slow, Promise.reject(new Error('refused'))])
    })
    await expect(spoilt).rejects.toThrow('refused')
    failed.resolve()
    await expect(slow).rejects.toThrow('the transaction has ended')
    expect(await notes(databaseUrl)).toEqual([])
  })

  it('throws when its commit became a rollback because an error was swallowed', async () => {
    const { databaseUrl, database } = await open()
    await using _ = database
    const spoilt = run(database, async (tx) => {
      await tx.query(`insert into notes values ('spoilt')`)
      await tx.query('select 1 / 0').catch(() => {})
    })
    await expect(spoilt).rejects.toThrow('transaction is aborted')
    expect(await notes(databaseUrl)).toEqual([])
  })

  it('throws when the commit itself fails', async () => {
    const { databaseUrl, database } = await open()
    await using _ = database
    const twice = run(database, (tx) => tx.query(`insert into notes values ('twice'), ('twice')`))
    await expect(twice).rejects.toSatisfy(isTaken)
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
      run(database, async (tx) => {
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
})

describe('the last statements of a transaction', () => {
  it('are committed with it, however late their writer asks', async () => {
    const { databaseUrl, database } = await open()
    await using _ = database
    const done = await sqlTransaction(database.pool, async (tx) => {
      await Promise.all([
        tx.sendLast((last) => last.query(`insert into notes values ('at once')`)),
        tx.sendLast(async (last) => {
          await sql(databaseUrl).query('select 1')
          await last.query(`insert into notes values ('later')`)
        }),
        tx.sendLast(async () => {}),
      ])
      return 'done'
    })
    expect(done).toBe('done')
    expect(await notes(databaseUrl)).toEqual(['at once', 'later'])
  })

  it('roll all of it back if one fails, whose error is thrown', async () => {
    const { databaseUrl, database } = await open()
    await using _ = database
    const spoilt = sqlTransaction(database.pool, async (tx) => {
      await tx.query(`insert into notes values ('before')`)
      await tx.sendLast((last) => last.query(`insert into notes values ('among')`))
      await tx.sendLast((last) => last.query('select 1 / 0'))
      await tx.sendLast((last) => last.query(`insert into notes values ('after')`))
    })
    await expect(spoilt).rejects.toThrow('division by zero')
    expect(await notes(databaseUrl)).toEqual([])
    await sqlTransaction(database.pool, (tx) => tx.sendLast((last) => last.query(`insert into notes values ('next')`)))
    expect(await notes(databaseUrl)).toEqual(['next'])
  })

  it('roll all of it back if a writer fails before it has asked', async () => {
    const { databaseUrl, database } = await open()
    await using _ = database
    const spoilt = sqlTransaction(database.pool, async (tx) => {
      await tx.query(`insert into notes values ('before')`)
      await tx.sendLast(() => Promise.reject(new Error('not asked')))
    })
    await expect(spoilt).rejects.toThrow('not asked')
    expect(await notes(databaseUrl)).toEqual([])
  })

  it('are one for each writer, because a second one might come after the commit', async () => {
    const { database } = await open()
    await using _ = database
    const twice = sqlTransaction(database.pool, (tx) =>
      tx.sendLast(async (last) => {
        await last.query('select 1')
        await last.query('select 2')
      }),
    )
    await expect(twice).rejects.toThrow('a last statement must be the only one')
  })
})

it('commits and rolls back statements of Prisma Client and of SQL together', async () => {
  const { databaseUrl, database } = await open()
  await using _ = database
  const store = async (fails: boolean) =>
    await transaction(database.db, async (tx) => {
      const id = newId()
      const name = fails ? 'lost' : 'kept'
      await tx.db.user.create({ data: { id, email: `${name}@example.com`, name } })
      const seen = await tx.query('select from users where id = $1', [id])
      await tx.query('insert into notes values ($1)', [`${name} ${seen.rowCount}`])
      if (fails) throw new Error('refused')
    })
  await store(false)
  await expect(store(true)).rejects.toThrow('refused')
  expect(await notes(databaseUrl)).toEqual(['kept 1'])
  expect(await database.db.user.findMany({ select: { name: true } })).toEqual([{ name: 'kept' }])
})

it('keeps its connection until it ends, however long its statements take together', async () => {
  const { databaseUrl, database } = await open()
  await using _ = database
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  await transaction(database.db, async (tx) => {
    await tx.query(`insert into notes values ('first')`)
    await vi.advanceTimersByTimeAsync(3_600_000)
    await tx.query(`insert into notes values ('second')`)
  })
  expect(await notes(databaseUrl)).toEqual(['first', 'second'])
})

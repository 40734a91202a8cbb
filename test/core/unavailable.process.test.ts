// Proves that however the database becomes unavailable during a statement, the caller gets 503, which asks for a retry.
import { afterAll, describe, expect, it } from 'vitest'
import { type Database, openDatabase } from '../../src/core/database/database.ts'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { publicFailure } from '../../src/core/public-failure.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase, ownServer, sql } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { allowed } from '../kit/measured.ts'
import { openLine } from '../kit/own-line.ts'
import { until } from '../kit/until.ts'

const databaseUrl = await cloneDatabase()
const outside = sql(databaseUrl)
const database = openDatabase(databaseUrl, () => {})
afterAll(async () => await database[Symbol.asyncDispose]())

const unavailable = { code: 'SERVICE_UNAVAILABLE' }

async function outcome(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => 'no error',
    (error: unknown) => publicFailure(error),
  )
}

type State = 'active' | 'idle in transaction'
const connections = `from pg_stat_activity
  where application_name = 'gateway' and datname = current_database() and state = $1`

/** Ends the connection that is in such a state, once there is one, and waits for its end. */
async function endConnection(state: State): Promise<void> {
  await until(async () => (await outside.query(`select pg_terminate_backend(pid) ${connections}`, [state])).rowCount)
  await until(async () => (await outside.query(`select 1 ${connections}`, [state])).rowCount === 0)
}

const slow = 'select pg_sleep(20)::text'

it.each(['25006', '53100', '53200'])('maps a server that cannot write (%s) to 503', async (state) => {
  const refusal = `do $$ begin raise exception 'no' using errcode = '${state}'; end $$`
  expect(await outcome(database.pool.query(refusal))).toMatchObject(unavailable)
})

it('maps a full disk to 503', () => {
  expect(publicFailure(Object.assign(new Error('no space left on device, write'), { code: 'ENOSPC' }))).toMatchObject(unavailable)
})

describe('a terminated connection', () => {
  it('is 503 during a statement', async () => {
    const [answer] = await Promise.all([outcome(database.pool.query(slow)), endConnection('active')])
    expect(answer).toMatchObject(unavailable)
  })

  it('is 503 during a raw Prisma statement', async () => {
    const [answer] = await Promise.all([outcome(database.db.$queryRawUnsafe(slow)), endConnection('active')])
    expect(answer).toMatchObject(unavailable)
  })

  it('is 503 during a Prisma model query', async () => {
    const locker = await outside.connect()
    await locker.query('begin; lock table workspaces in access exclusive mode')
    const [answer] = await Promise.all([outcome(database.db.workspace.findFirst()), endConnection('active')])
    await locker.query('rollback')
    locker.release()
    expect(answer).toMatchObject(unavailable)
  })

  it('is 503 between two statements of a transaction', async () => {
    const work = sqlTransaction(database.pool, async (tx) => {
      await tx.query('select 1')
      await endConnection('idle in transaction')
      await tx.query('select 1')
    })
    expect(await outcome(work)).toMatchObject(unavailable)
  })

  it('is 503 after the process stalled in a transaction', async () => {
    const work = sqlTransaction(database.pool, async (tx) => {
      await tx.query('set local idle_in_transaction_session_timeout = 50')
      // Repeats while the server, on a busy machine, has not enforced the timeout yet.
      for (let tries = 0; tries < 20; tries++) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
        await tx.query('select 1')
      }
    })
    expect(await outcome(work)).toMatchObject(unavailable)
  })
})

it.each([
  ['a statement', (url: Database) => url.pool.query('select 1')],
  ["a model's read of Prisma's", (url: Database) => url.db.workspace.findFirst()],
])('answers %s with 503 while a server goes down, is down, and comes up', async (_, read) => {
  const server = await ownServer()
  await using own = openDatabase(server.url, () => {})
  const running = outcome(own.db.$queryRawUnsafe(slow))
  await until(async () => (await sql(server.url).query(`select 1 from pg_stat_activity where query = '${slow}'`)).rowCount)
  await server.stop('immediate')
  expect(await running).toMatchObject(unavailable)
  expect(await outcome(read(own))).toMatchObject(unavailable)
  const started = server.start()
  const answers: unknown[] = []
  let isUp = false
  const up = started.then(() => {
    isUp = true
  })
  while (!isUp) answers.push(await outcome(read(own)))
  await up
  for (const answer of new Set(answers)) if (answer !== 'no error') expect(answer).toMatchObject(unavailable)
})

describe('a server that stops answering and closes nothing', () => {
  it.each([
    ['a statement', (own: Database) => own.pool.query('select 1')],
    ['a transaction', (own: Database) => sqlTransaction(own.pool, (tx) => tx.query('select 1'))],
    ["a model's read of Prisma's", (own: Database) => own.db.workspace.findFirst()],
  ])('is 503 for %s after a timeout, and its connection is not used again', async (_, read) => {
    const line = await openLine(databaseUrl)
    await using own = openDatabase(line.url, () => {}, { max: 1, silenceMs: 2_000 })
    expect(await outcome(read(own))).toBe('no error')
    line.forget()
    expect(await outcome(read(own))).toMatchObject(unavailable)
    expect(await outcome(read(own))).toBe('no error')
  })

  it('is found before a statement that is only slow would end', async () => {
    const line = await openLine(databaseUrl)
    await using own = openDatabase(line.url, () => {}, { max: 2 })
    expect(await outcome(own.pool.query('select 1'))).toBe('no error')
    line.forget()
    const ended: string[] = []
    const forgotten = outcome(own.pool.query('select 1')).finally(() => ended.push('forgotten'))
    const slow = outcome(own.pool.query('select pg_sleep(8)')).finally(() => ended.push('slow'))
    expect([await forgotten, await slow]).toMatchObject([unavailable, 'no error'])
    expect(ended).toEqual(['forgotten', 'slow'])
  })

  it('keeps no sessions on the server: it closes those that were silent for a minute', async () => {
    const settings = `select current_setting('idle_session_timeout') as "after"`
    for (const pool of [database.pool, database.quickPool]) expect((await pool.query(settings)).rows).toEqual([{ after: '1min' }])
  })

  it('leaves a gateway able to serve again within seconds, by new connections', async () => {
    const line = await openLine(databaseUrl)
    const account = await createAccount(databaseUrl)
    const gateway = await startGateway({ databaseUrl: line.url })
    const look = () =>
      fetch(`${gateway.url}/api/v1/instances`, { headers: { 'x-api-key': account.apiKey }, signal: AbortSignal.timeout(30_000) })
    expect((await look()).status).toBe(200)
    line.forget()
    const frozenAt = Date.now()
    await until(async () => (await look()).status === 200)
    // A statement may take 10 s, so time alone would tell after 12 s at the earliest.
    expect(Date.now() - frozenAt).toBeLessThan(allowed(12_000))
    gateway.kill('SIGKILL')
  })

  it('does not block /metrics', async () => {
    const line = await openLine(databaseUrl)
    const gateway = await startGateway({ databaseUrl: line.url })
    const look = () => fetch(`${gateway.url}/metrics`, { signal: AbortSignal.timeout(8_000) })
    await look()
    line.forget()
    expect(await (await look()).text()).toContain('process_resident_memory_bytes')
    gateway.kill('SIGKILL')
  })
})

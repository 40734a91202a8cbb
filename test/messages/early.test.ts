// Receipts that come before their message is known: a job tries each of them again, whenever its transaction commits.
import type { PoolClient } from 'pg'
import { beforeAll, expect, it } from 'vitest'
import type { Sql } from '../../src/core/database/database.ts'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { keepEarly } from '../../src/messages/receipts/early-job.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { sql } from '../kit/database.ts'
import type { InnerGateway } from '../kit/open-gateway.ts'
import { openScene, type Scene } from '../kit/scene.ts'
import { until } from '../kit/until.ts'

let scene: Scene

beforeAll(async () => {
  scene = await openScene({ env: { LOG_LEVEL: 'warn' } })
})

interface Beside {
  /** An open transaction, which `work` commits. */
  client: PoolClient
  keep: (tx: Sql, providerMessageId: string) => Promise<void>
  /** Null when the receipt is gone. */
  nextAt: (providerMessageId: string) => Promise<Date | null>
  /** The number of jobs that try the receipts of the round. */
  jobs: () => Promise<number | null>
  /** The time of the first trial of all receipts. */
  round: Date
}

/**
 * Runs `work` in a transaction that begins more than a second before its receipts are due. A receipt `other`, which is due at the same time, has been
 * kept for so long that its trial is its last one, so that no later job of the instance looks at receipts. Begins again with another instance
 * while the machine is so slow that the round comes before all receipts are kept: `work` returns false then.
 */
async function beside(work: (transaction: Beside) => Promise<boolean>): Promise<void> {
  let done = false
  while (!done) done = await tryBeside(work)
}

async function isOver(round: Date): Promise<boolean> {
  return (await sql(scene.databaseUrl).query('select where clock_timestamp() >= $1', [round])).rowCount === 1
}

async function tryBeside(work: (transaction: Beside) => Promise<boolean>): Promise<boolean> {
  const { databaseUrl, account, gateways } = scene
  const { app } = gateways[0] as InnerGateway
  const pool = sql(databaseUrl)
  const { id: instanceId } = await connectedInstance(databaseUrl, account)
  const keep = (tx: Sql, providerMessageId: string) =>
    keepEarly(app, tx, [{ instanceId, providerMessageId, status: 'sent', at: new Date() }])
  const nextAt = async (id: string) => {
    const text = 'select "nextAt" from early_receipts where "instanceId" = $1 and "providerMessageId" = $2'
    return (await pool.query<{ nextAt: Date }>(text, [instanceId, id])).rows[0]?.nextAt ?? null
  }
  const left = '2 - extract(epoch from clock_timestamp()) % 2'
  await until(async () => (await pool.query(`select where ${left} > 1.5`)).rowCount === 1, { everyMs: 20 })
  const client = await pool.connect()
  try {
    await client.query('begin')
    await sqlTransaction(app.pool, async (tx) => {
      await keep(tx, 'other')
      await tx.query(`update early_receipts set "keptAt" = now() - interval '121 seconds' where "instanceId" = $1`, [instanceId])
    })
    const round = await nextAt('other')
    if (!round || (await isOver(round))) return false
    const ofRound = `select from pgboss.job where name = 'receipts.early' and start_after = $1 and data->>'instanceId' = $2`
    const jobs = async () => (await pool.query(ofRound, [round, instanceId])).rowCount
    return await work({ client, keep, nextAt, jobs, round })
  } finally {
    await client.query('rollback')
    client.release()
  }
}

const soon = { timeoutMs: 15_000 }

it('one whose transaction commits after the job of its time has run is tried by another job', async () => {
  await beside(async ({ client, keep, nextAt, round }) => {
    await until(async () => (await nextAt('other')) === null, soon)
    await keep(client, 'late')
    await client.query('commit')
    expect(await nextAt('late')).toEqual(round)
    await until(async () => (await nextAt('late'))?.getTime() !== round.getTime(), soon)
    return true
  })
})

it('one shares the job of its time, which waits for its transaction', async () => {
  await beside(async ({ client, keep, nextAt, jobs, round }) => {
    await keep(client, 'shared')
    if (await isOver(round)) return false
    await until(() => isOver(new Date(round.getTime() + 1_000)))
    expect(await nextAt('other')).toEqual(round)
    await client.query('commit')
    await until(async () => (await nextAt('shared'))?.getTime() !== round.getTime(), soon)
    expect([await nextAt('other'), await jobs()]).toEqual([null, 1])
    return true
  })
})

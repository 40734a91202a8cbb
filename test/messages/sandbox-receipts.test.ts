// The receipts of the sandbox network: a process that dies or fails while it reports them changes nothing that they say.
import { expect, it } from 'vitest'
import { withConnection } from '../../src/core/database/database.ts'
import { newId } from '../../src/core/id.ts'
import { sendDue } from '../../src/messages/dispatch/send.ts'
import { applyReceipts } from '../../src/messages/receipts/receipts.ts'
import { sendMessage } from '../../src/messages/service.ts'
import type { Receipt, Reports } from '../../src/providers/reports.ts'
import { createMoves } from '../../src/providers/sandbox/moves.ts'
import { addSteps, type NextStep, readDueMoves, readNextStep, takeDueReports } from '../../src/providers/sandbox/sandbox.sql.ts'
import { runDueSteps } from '../../src/providers/sandbox/steps.ts'
import { buffersRead } from '../kit/buffers-read.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openWorkspace } from './rig.ts'

it('tell the same times when another process reports them again', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  for (let n = 0; n < 2; n++) {
    const { id } = await sendMessage(ctx, { instanceId, to: '+393331115555', type: 'text', text: 'hello' })
    await sendDue(app, [id])
  }
  const due = async () => (await sql(databaseUrl).query('select from sandbox_steps where "dueAt" <= now()')).rowCount
  await until(async () => (await due()) === 6)

  /** Takes all steps and fails to report them. */
  async function fail(): Promise<Receipt[]> {
    const told: Receipt[] = []
    const receipts: Reports['receipts'] = async (list) => {
      told.push(...list)
      throw new Error('the database is lost')
    }
    const reports: Reports = { receipts, inbound: async () => [], inboundAtOnce: async () => [], state: async () => {} }
    await expect(runDueSteps(app, reports, createMoves(app, reports), 0)).rejects.toThrow('the database is lost')
    return told
  }
  const first = await fail()
  expect(first.map(({ status }) => status).toSorted()).toEqual(['delivered', 'delivered', 'read', 'read', 'sent', 'sent'])
  expect(first.map(({ at }) => at.getTime())).toEqual(first.map(({ at }) => at.getTime()).toSorted((a, b) => a - b))
  expect(await fail()).toEqual(first)
})

it('are looked at again a little later while another process reports them', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const { id } = await sendMessage(ctx, { instanceId, to: '+393331110005', type: 'text', text: 'hello' })
  await sendDue(app, [id])
  const due = async () => (await sql(databaseUrl).query('select from sandbox_steps where "dueAt" <= now()')).rowCount
  await until(async () => (await due()) === 1)
  const reports: Reports = {
    receipts: async () => [],
    inbound: async () => [],
    inboundAtOnce: async () => [],
    state: async () => {},
  }
  const other = await sql(databaseUrl).connect()
  await other.query('begin')
  await other.query('select from sandbox_steps for update')
  expect(await runDueSteps(app, reports, createMoves(app, reports), 5_000)).toBe(100)
  await other.query('rollback')
  other.release()
  expect(await runDueSteps(app, reports, createMoves(app, reports), 5_000)).toBe(0)
  expect(await runDueSteps(app, reports, createMoves(app, reports), 5_000)).toBe(5_000)
})

it('are taken without a walk over the steps that an old snapshot keeps, which only the look for the next one makes', async () => {
  const pool = sql(await cloneDatabase())
  await withConnection(pool, async (holder) => {
    await holder.query('begin isolation level repeatable read; select 1')
    const answer = { instanceId: newId(), kind: 'answer' as const, messageId: 'gone', after: 0 }
    await addSteps(pool, Array(3_000).fill(answer), 1)
    await takeDueReports(pool, '-infinity', 3_000)
    await addSteps(pool, [answer], 1)
    const { at } = (await readNextStep(pool)) as NextStep
    const walk = await buffersRead(pool, (tx) => readNextStep(tx))
    expect(await buffersRead(pool, (tx) => readDueMoves(tx, at, 10))).toBeLessThan(walk / 4)
    await withConnection(pool, async (client, lose) => {
      // As with the statistics of a table in use.
      await client.query('set enable_seqscan = off')
      expect(await buffersRead(client, (tx) => takeDueReports(tx, at, 10))).toBeLessThan(walk / 2)
      lose(new Error('its settings are those of this test'))
    })
    await holder.query('rollback')
  })
})

it('keep the id of the network, which only the first of two reports in one transaction names', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const { id } = await sendMessage(ctx, { instanceId, to: '+393331115556', type: 'text', text: 'hello' })
  const receipt = { instanceId, messageId: id, at: new Date() }
  await applyReceipts(app, [
    { ...receipt, status: 'sent', providerMessageId: 'network-1' },
    { ...receipt, status: 'delivered' },
  ])
  const { rows } = await sql(databaseUrl).query('select status, "providerMessageId" as name from messages where id = $1', [id])
  expect(rows).toEqual([{ status: 'delivered', name: 'network-1' }])
})

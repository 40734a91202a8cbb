// Receipts as networks really deliver them: duplicated, late, in any order, at the same moment, before our own commit.
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import type { Context } from '../../src/core/context.ts'
import type { MessageStatus } from '../../src/generated/prisma/client.ts'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { applyReceipts } from '../../src/messages/receipts/receipts.ts'
import { reached } from '../../src/messages/receipts/status-order.ts'
import { sendMessage } from '../../src/messages/service.ts'
import type { Receipt, ReceiptStatus } from '../../src/providers/reports.ts'
import { sql } from '../kit/database.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { until } from '../kit/until.ts'
import { contextFor, openApp } from '../messages/rig.ts'
import { openStage, type Stage, sendAll, text } from './rig.ts'

const rank = { queued: 0, sending: 1, sent: 2, delivered: 3, read: 4 } as Record<MessageStatus, number>
const statuses = ['sent', 'delivered', 'read', 'failed'] as const
/** Any number of receipts of each status, in any order. */
const disorder = fc.array(fc.constantFrom(...statuses), { minLength: 1, maxLength: 12 })

let stage: Stage
let app: App
let ctx: Context

beforeAll(async () => {
  stage = await openStage()
  // With this latency, receipts can settle for 10 s whether a message left.
  app = await openApp(stage.databaseUrl, { SANDBOX_LATENCY_MS: '1000' })
  ctx = contextFor(app, stage.account)
})

/** Checks the rules for the statuses reached, which hold for all receipts in every order. */
function expectOrderly(receipts: readonly ReceiptStatus[], steps: readonly ReceiptStatus[]): void {
  const rising = steps.filter((step) => step !== 'failed')
  expect(rising, 'no step is left out or repeated').toEqual((['sent', 'delivered', 'read'] as const).slice(0, rising.length))
  if (steps.includes('failed')) {
    expect(steps.at(-1), 'nothing follows a failure').toBe('failed')
    expect(rising, 'what was delivered does not fail').not.toContain('delivered')
    expect(receipts).toContain('failed')
  } else {
    const furthest = receipts.reduce((best, status) => Math.max(best, rank[status] ?? 0), 0)
    if (!receipts.includes('failed') || rising.includes('delivered')) expect(rising.length).toBe(furthest - 1)
    else throw new Error('a failure was ignored')
  }
}

it('moves a status forward only, whatever receipts come in whatever order', () => {
  fc.assert(
    fc.property(disorder, (receipts) => {
      let status: MessageStatus = 'sending'
      const steps: ReceiptStatus[] = []
      for (const receipt of receipts) {
        for (const step of reached(status, receipt)) {
          steps.push(step)
          status = step
        }
      }
      expectOrderly(receipts, steps)
    }),
    { numRuns: 2_000 },
  )
})

it('ignores receipts for messages that are finished or not outbound, and fills in skipped steps', () => {
  for (const status of ['failed', 'cancelled', 'received', 'read'] as const) {
    for (const receipt of statuses) expect(reached(status, receipt)).toEqual([])
  }
  expect(reached('delivered', 'failed')).toEqual([])
  expect(reached('sending', 'read')).toEqual(['sent', 'delivered', 'read'])
})

/** A message that a worker of this process has claimed but not offered. */
async function claimed(instance = stage.sure): Promise<string> {
  const { id } = await sendMessage(ctx, text(instance))
  const { claimed: list } = await claimMessages(app, [id])
  expect(list).toHaveLength(1)
  return id
}

function receipt(id: string, status: ReceiptStatus, instance = stage.sure): Receipt {
  return {
    instanceId: instance.id,
    messageId: id,
    providerMessageId: `sandbox.${id}`,
    status,
    at: new Date(),
    error: status === 'failed' ? 'UNDELIVERABLE' : undefined,
  }
}

async function stepsOf(id: string): Promise<ReceiptStatus[]> {
  const { rows } = await sql(stage.databaseUrl).query<{ type: string }>(
    `select type from outbox where "messageId" = $1 and type <> 'message.queued' order by position`,
    [id],
  )
  return rows.map(({ type }) => type.slice('message.'.length) as ReceiptStatus)
}

it('writes one event for each step, with receipts in any order and in any concurrent groups', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(disorder, { minLength: 1, maxLength: 4 }), async (groups) => {
      const id = await claimed()
      await Promise.all(
        groups.map((group) =>
          applyReceipts(
            app,
            group.map((status) => receipt(id, status)),
          ),
        ),
      )
      const steps = await stepsOf(id)
      expectOrderly(groups.flat(), steps)
      const { rows } = await sql(stage.databaseUrl).query('select * from messages where id = $1', [id])
      expect(rows[0]).toMatchObject({
        status: steps.at(-1),
        providerMessageId: `sandbox.${id}`,
        error: steps.includes('failed') ? 'UNDELIVERABLE' : null,
      })
      expect(statuses.filter((status) => rows[0][`${status}At`] !== null).sort()).toEqual([...new Set(steps)].sort())
    }),
    { numRuns: 60 },
  )
})

it('makes one change and one event of a receipt that comes five times concurrently', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, claimed))
  const news = ids.flatMap((id) => [receipt(id, 'sent'), receipt(id, 'delivered')])
  const results = await Promise.all(
    Array.from({ length: 5 }, (_, i) => applyReceipts(app, i % 2 === 0 ? news : news.toReversed())),
  )
  // Those in reverse order apply `delivered` alone, which includes `sent`, if they come first.
  const applied = results.flat().filter((result) => result === 'applied').length
  expect([ids.length, news.length]).toContain(applied)
  expect(results.flat()).not.toContain('unknown')
  for (const id of ids) expect(await stepsOf(id)).toEqual(['sent', 'delivered'])
})

it('says which receipts match no message of their instance, and applies the others', async () => {
  const id = await claimed()
  const strange = { ...receipt(id, 'sent'), instanceId: stage.blind.id }
  expect(await applyReceipts(app, [strange, receipt(id, 'sent')])).toEqual(['unknown', 'applied'])
  expect(await stepsOf(id)).toEqual(['sent'])
})

describe('for a message with a broken worker on a network that does not deduplicate by our id', () => {
  const rowOf = async (id: string) => (await sql(stage.databaseUrl).query('select * from messages where id = $1', [id])).rows[0]

  /** Makes the lease end that long ago, and then claims the message again, as its returning job would. */
  async function comeBack(id: string, ago: string): Promise<void> {
    await sql(stage.databaseUrl).query(`update messages set "leaseUntil" = now() - $2::interval where id = $1`, [id, ago])
    expect(await claimMessages(app, [id])).toMatchObject({ claimed: [], next: [] })
  }

  it.each([
    ['its lease runs', '-5 s'],
    ['its lease is over', '5 s'],
  ])('a late receipt proves that it left, as long as its outcome is open: while %s', async (_, ago) => {
    const id = await claimed(stage.blind)
    await comeBack(id, ago)
    expect(await rowOf(id)).toMatchObject({ status: 'sending', error: null })
    expect(await applyReceipts(app, [receipt(id, 'delivered', stage.blind)])).toEqual(['applied'])
    await comeBack(id, '1 h')
    expect(await rowOf(id)).toMatchObject({ status: 'delivered', error: null, providerMessageId: `sandbox.${id}` })
    expect(await stepsOf(id)).toEqual(['sent', 'delivered'])
  })

  it('no receipt changes it or writes an event after it was settled as UNKNOWN_OUTCOME', async () => {
    const id = await claimed(stage.blind)
    await comeBack(id, '1 h')
    const settled = await rowOf(id)
    expect(settled).toMatchObject({ status: 'failed', error: 'UNKNOWN_OUTCOME', acceptedAt: null })
    const late = statuses.map((status) => receipt(id, status, stage.blind))
    expect(await Promise.all([late, late.toReversed()].map((list) => applyReceipts(app, list)))).toEqual([
      Array(4).fill('duplicate'),
      Array(4).fill('duplicate'),
    ])
    expect(await rowOf(id)).toStrictEqual(settled)
    expect(await stepsOf(id)).toEqual(['failed'])
  })
})

it('keeps receipts that come before the commit of the send', async () => {
  const early = await openStage()
  const gateway = await early.open({ FAILPOINT: 'send.before_commit=sleep:5000' })
  const [id] = await sendAll(early.account, () => gateway, [text(early.blind)])
  const read = async () => (await sql(early.databaseUrl).query('select * from messages where id = $1', [id])).rows[0]
  const before = await until(async () => {
    const row = await read()
    return row.status === 'read' && row
  })
  expect(before.leaseToken, 'the send is not committed yet').not.toBeNull()
  await until(async () => (await read()).leaseToken === null)
  expect(await read()).toMatchObject({ status: 'read', providerMessageId: `sandbox.${id}`, attempts: 1 })
  await expectInvariants(early.databaseUrl, { acknowledged: [id as string] })
  expect(gateway.logs.filter((line) => /"level":"(warn|error|fatal)"/.test(line))).toEqual([])
})

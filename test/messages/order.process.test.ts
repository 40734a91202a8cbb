// Messages to one number leave in the order in which they were sent, over two gateways, and delay no other number.
import { beforeAll, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { openScene, type Scene } from '../kit/scene.ts'
import { until } from '../kit/until.ts'

/** A hundred messages that leave one after the other take a minute on a busy machine, and no shorter time is promised. */
const longMs = 120_000

let scene: Scene

beforeAll(async () => {
  scene = await openScene({ gateways: 2 })
})

function body(to: string, text = 'hello', more: Record<string, unknown> = {}): Record<string, unknown> {
  return { instanceId: scene.phone.id, to, type: 'text', text, ...more }
}

async function bulk(messages: unknown[]): Promise<string[]> {
  const { status, body } = await scene.client().post('messages/bulk', { messages })
  expect(status).toBe(202)
  return body.data.accepted.map(({ id }: { id: string }) => id)
}

/** Waits until the network has accepted all messages; returns their ids in the order in which it accepted them. */
async function taken(ids: readonly string[]): Promise<string[]> {
  return await until(
    async () => {
      const { rows } = await sql(scene.databaseUrl).query<{ id: string }>(
        `select m.id from messages m join sandbox_messages s on s.reference = m.id::text
         where m.id = any($1) and m."acceptedAt" is not null order by s."acceptedAt"`,
        [ids],
      )
      return rows.length === ids.length && rows.map(({ id }) => id)
    },
    { timeoutMs: longMs, everyMs: 50 },
  )
}

it('keeps the order of twenty messages sent one after the other through two gateways', async () => {
  const ids: string[] = []
  for (let i = 0; i < 20; i++) {
    const sent = await scene.client(i).post('messages/send', body('+393331110100', `number ${i}`))
    ids.push(sent.body.data.id)
  }
  expect(await taken(ids)).toEqual(ids)
})

it('keeps the order of a bulk, with each message waiting until the one before it is accepted after its refusals', async () => {
  const ids = await bulk(Array.from({ length: 6 }, () => body('+393331110008')))
  expect(await taken(ids)).toEqual(ids)
  const { rows } = await sql(scene.databaseUrl).query('select offers from sandbox_messages where reference = any($1)', [ids])
  expect(rows.map(({ offers }) => offers)).toEqual(Array(6).fill(3))
})

it('keeps the order of many messages to one number, and lets messages to others pass', async () => {
  const many = await bulk(Array.from({ length: 100 }, () => body('+393331110200')))
  const others = await bulk(Array.from({ length: 20 }, (_, i) => body(`+39333111${3000 + i}`)))
  const all = await taken([...many, ...others])
  expect(all.filter((id) => many.includes(id))).toEqual(many)
  const passed = Math.max(...others.map((id) => all.indexOf(id))) + 1 - others.length
  console.log(`${passed} of 100 to one number had left when the last of 20 others behind them did`)
  expect(passed).toBeLessThan(50)
})

it('keeps every invariant through all of that', async () => {
  await expectInvariants(scene.databaseUrl)
})

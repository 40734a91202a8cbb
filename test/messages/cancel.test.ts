// Cancelling: a cancelled message is never sent, and a sent message cannot be cancelled, whichever comes first.
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import type { Answer } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { openScene, type Scene } from '../kit/scene.ts'
import { until } from '../kit/until.ts'
import { bringForward } from './rig.ts'

let scene: Scene

beforeAll(async () => {
  scene = await openScene({ gateways: 2 })
})

async function accept(count: number, scheduledAt?: Date): Promise<string[]> {
  const messages = Array.from({ length: count }, (_, i) => ({
    instanceId: scene.phone.id,
    to: `+39333500${1000 + i}`,
    type: 'text',
    text: 'hello',
    scheduledAt,
  }))
  return (await scene.client(0).post('messages/bulk', { messages })).body.data.accepted.map(({ id }: { id: string }) => id)
}

/** Checks that every message ended as its caller was outcome and as the network knows it. */
async function expectAgreement(ids: readonly string[], answers: readonly Answer[]): Promise<{ cancelled: number }> {
  await until(
    async () =>
      (await sql(scene.databaseUrl).query(`select from messages where status not in ('read', 'cancelled')`)).rowCount === 0,
  )
  const { rows } = await sql(scene.databaseUrl).query<{ id: string; status: string; offered: boolean }>(
    `select m.id, m.status, s.reference is not null as offered from messages m left join sandbox_messages s on s.reference = m.id::text where m.id = any($1)`,
    [ids],
  )
  const found = new Map(rows.map((row) => [row.id, row]))
  for (const [i, answer] of answers.entries()) {
    const { status, offered } = found.get(ids[i] as string) as { status: string; offered: boolean }
    if (answer.status === 200) expect([answer.body.data.status, status, offered]).toEqual(['cancelled', 'cancelled', false])
    else expect([answer.status, answer.body.error.code, status, offered]).toEqual([409, 'INVALID_STATE', 'read', true])
  }
  return { cancelled: answers.filter(({ status }) => status === 200).length }
}

it('cancels a scheduled message once, which is then never sent', async () => {
  const [id] = (await accept(1, new Date(Date.now() + 3_600_000))) as [string]
  const first = await scene.client(0).post(`messages/${id}/cancel`)
  expect([first.status, first.body.data.status]).toEqual([200, 'cancelled'])
  const again = await scene.client(1).post(`messages/${id}/cancel`)
  expect([again.status, again.body.error.code]).toEqual([409, 'INVALID_STATE'])
  const { rows } = await sql(scene.databaseUrl).query<{ id: string }>(
    `select data->>'id' as id from pgboss.job where name = 'message.dispatch' and state < 'completed'`,
  )
  expect(rows).toEqual([{ id }])
  await bringForward(scene.databaseUrl, [id])
  await until(
    async () =>
      (await sql(scene.databaseUrl).query(`select from pgboss.job where name = 'message.dispatch' and state < 'completed'`))
        .rowCount === 0,
  )
  expect((await sql(scene.databaseUrl).query('select from sandbox_messages where reference = $1', [id])).rowCount).toBe(0)
})

it('answers truthfully when cancellations race with the due time of scheduled messages', async () => {
  const at = new Date(Date.now() + 1_200)
  const ids = await accept(120, at)
  // The messages leave within half a second of their time, and the cancellations are spread over the same half second.
  const answers = await Promise.all(
    ids.map(async (id, i) => {
      await pause(at.getTime() - Date.now() + 4 * i)
      return await scene.client(i).post(`messages/${id}/cancel`)
    }),
  )
  const { cancelled } = await expectAgreement(ids, answers)
  console.log(`${cancelled} of 120 were cancelled in time`)
})

it('answers truthfully when cancellations race with instant messages', async () => {
  const raced = await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      const sent = await scene
        .client(0)
        .post('messages/send', { instanceId: scene.phone.id, to: `+39333600${1000 + i}`, type: 'text', text: 'hello' })
      return {
        id: sent.body.data.id as string,
        answer: await scene.client(i).post(`messages/${sent.body.data.id}/cancel`),
      }
    }),
  )
  const { cancelled } = await expectAgreement(
    raced.map(({ id }) => id),
    raced.map(({ answer }) => answer),
  )
  console.log(`${cancelled} of 60 were cancelled in time`)
})

it('keeps every invariant through all of that', async () => {
  await expectInvariants(scene.databaseUrl)
})

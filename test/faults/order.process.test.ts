// Messages to one number leave in the order of the commits that answered, over three nodes, while one of them is killed; their events follow.
import { expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import type { Gateway } from '../kit/gateway.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { until } from '../kit/until.ts'
import { openStage, persist, pickFrom, seeded, text } from './rig.ts'

const each = 12

it('sends to each number in the order of acceptance over three nodes, through refusals, lost answers and a kill', async () => {
  const stage = await openStage()
  const nodes: Gateway[] = await Promise.all([stage.start(), stage.start(), stage.start()])
  const random = seeded(11)
  const numbers = ['5555', '5556', '5557', '5558', '0008', '0009'].map((ending, i) => `+39333${700 + i}${ending}`)
  // Two clients send to each number at the same time, and each waits for an answer before it sends the next message.
  const clients = [...numbers, ...numbers].map((to) => ({ to, ids: [] as string[] }))
  const acknowledged = () => clients.flatMap(({ ids }) => ids)
  const sending = Promise.all(
    clients.map(async ({ to, ids }) => {
      while (ids.length < each) {
        const { status, body } = await persist(
          stage.account,
          () => pickFrom(nodes, random),
          'messages/send',
          text(stage.sure, to),
        )
        expect(status).toBe(201)
        ids.push(body.data.id)
      }
    }),
  )
  sending.catch(() => {})
  await until(() => acknowledged().length > (clients.length * each) / 3)
  nodes[0]?.kill('SIGKILL')
  nodes[0] = await stage.start()
  await sending
  await expectInvariants(stage.databaseUrl, { acknowledged: acknowledged(), messages: clients.length * each, withinMs: 200_000 })

  const { rows } = await sql(stage.databaseUrl).query<{ id: string; to: string; takenAt: Date; seq: string }>(
    `select m.id, m."to", s."acceptedAt" as "takenAt", e.seq
     from messages m join sandbox_messages s on s.reference = m.id::text join events e on e."messageId" = m.id and e.type = 'message.sent'
     order by m."createdAt", m.id`,
  )
  const lines = Map.groupBy(rows, ({ to }) => to)
  for (const { to, ids } of clients) {
    const line = lines.get(to) ?? []
    expect(line.map(({ id }) => id).filter((id) => ids.includes(id))).toEqual(ids)
  }
  const swapped = [...lines.values()].flatMap((line) =>
    line.slice(1).flatMap((later, i) => {
      const before = line[i] as typeof later
      return before.takenAt > later.takenAt || Number(before.seq) > Number(later.seq) ? [{ before, later }] : []
    }),
  )
  expect(swapped).toEqual([])
})

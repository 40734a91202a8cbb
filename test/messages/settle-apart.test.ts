// Outcomes of many sends are stored together. One that cannot be stored does not take the others with it.
import { expect, it } from 'vitest'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { settlement } from '../../src/messages/dispatch/settle.ts'
import { sendMessage } from '../../src/messages/service.ts'
import type { SendOutcome } from '../../src/providers/outgoing.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openWorkspace } from './rig.ts'

const as = (providerMessageId: string): SendOutcome => ({ outcome: 'accepted', providerMessageId })

it.each<[name: string, outcomes: SendOutcome[], stored: (string | null)[]]>([
  ['an id that another message has', [as('one'), as('one'), as('three')], ['one', null, 'three']],
  ['an id that cannot be stored', [as('a\0b'), as('two'), as('three')], [null, 'two', 'three']],
])('%s fails alone', async (_, outcomes, stored) => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const ids: string[] = []
  for (const n of outcomes.keys()) {
    ids.push((await sendMessage(ctx, { instanceId, to: `+3933370010${n}`, type: 'text', text: 'hello' })).id)
  }
  const claimed = new Map((await claimMessages(app, ids)).claimed.map((message) => [message.id, message]))
  const settled = await Promise.allSettled(
    outcomes.map((outcome, n) => settlement(app)({ message: claimed.get(ids[n] as string) as never, outcome })),
  )
  expect(settled.map(({ status }) => status)).toEqual(stored.map((id) => (id === null ? 'rejected' : 'fulfilled')))
  const { rows } = await sql(databaseUrl).query<{ providerMessageId: string | null; accepted: boolean; leased: boolean }>(
    `select m."providerMessageId", m."acceptedAt" is not null as accepted, m."leaseToken" is not null as leased
     from messages m join unnest($1::uuid[]) with ordinality as u(id, n) on u.id = m.id order by u.n`,
    [ids],
  )
  expect(rows).toEqual(stored.map((id) => ({ providerMessageId: id, accepted: id !== null, leased: id === null })))
})

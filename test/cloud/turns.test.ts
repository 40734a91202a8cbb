// Connecting on Meta's Cloud API: the calls of one customer that nobody answers leave room for those of the others.
import { expect, it } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import { until } from '../kit/until.ts'
import { openRig, rigOf } from './rig.ts'

it('one customer whose connects hang has two of them under way, and another one connects meanwhile', async () => {
  const rig = await openRig()
  const { standIn, api } = rig
  const slow = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const number = standIn.addNumber()
      standIn.addFault({ on: new RegExp(`GET ${number.id}`), effect: 'hang', times: 100 })
      return await rig.create(number)
    }),
  )
  let most = 0
  const note = () => {
    most = Math.max(most, standIn.hanging())
    return most
  }
  // At once, so that all workers fetch at the same moment.
  await Promise.all(slow.map((id) => api.post(`instances/${id}/connect`)))
  await until(() => note() >= 2)
  const other = rigOf(rig.databaseUrl, standIn, rig.gateway, await createAccount(rig.databaseUrl))
  const id = await other.create(standIn.addNumber())
  await other.api.post(`instances/${id}/connect`)
  await until(async () => note() > 0 && (await other.state(id)).status === 'connected', { everyMs: 5 })
  // Hangs end by their time limit, and the next ones begin.
  await until(() => note() > 0 && standIn.count(/^GET /) >= 4, { everyMs: 5 })
  expect(most).toBe(2)
  for (const one of slow) expect((await rig.state(one)).status).toBe('connecting')
  standIn.clearFaults()
  await until(async () => (await Promise.all(slow.map(rig.state))).every(({ status }) => status === 'connected'), {
    timeoutMs: 120_000,
  })
}, 180_000)

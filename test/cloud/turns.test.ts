// Calls to Meta's Cloud API that nobody answers: connects of one customer, or of many, and files, leave room for those of the others.
import { expect, it } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import { until } from '../kit/until.ts'
import { messageOf, openHookRig } from './hook-rig.ts'
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
})

it('ten connects of five customers that hang leave room for a sixth customer', async () => {
  const rig = await openRig()
  const { standIn } = rig
  const customer = async () => rigOf(rig.databaseUrl, standIn, rig.gateway, await createAccount(rig.databaseUrl))
  const slow = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const one = await customer()
      const numbers = [standIn.addNumber(), standIn.addNumber()]
      for (const { id } of numbers) standIn.addFault({ on: new RegExp(`GET ${id}`), effect: 'hang', times: 1_000 })
      return { one, ids: await Promise.all(numbers.map((number) => one.create(number))) }
    }),
  )
  await Promise.all(slow.flatMap(({ one, ids }) => ids.map((id) => one.api.post(`instances/${id}/connect`))))
  const other = await customer()
  // Connects that hang end by their time limit, and begin again: more of them than there are workers, while another one connects.
  await until(async () => {
    const id = await other.create(standIn.addNumber())
    expect(await other.connect(id)).toMatchObject({ status: 'connected' })
    return standIn.hanging() >= 8
  })
  for (const { one, ids } of slow) for (const id of ids) expect((await one.state(id)).status).toBe('connecting')
})

it('files that hang, of more numbers than there are workers, leave room for the file of another number', async () => {
  const rig = await openHookRig()
  const { standIn } = rig
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  const send = async (hangs: boolean) => {
    const line = await rig.line()
    const { id } = standIn.addMedia(line.number, 'image/png', png)
    if (hangs) standIn.addFault({ on: new RegExp(`GET .*files/${id}$`), effect: 'hang' })
    expect(await rig.tell(line, { messages: [messageOf('image', { id })] })).toBe(200)
    return line
  }
  for (let i = 0; i < 7; i++) await send(true)
  // For a minute, until their time limit.
  await until(() => standIn.hanging() === 7)
  const other = await send(false)
  await until(async () => (await rig.inbound(other))[0]?.mediaUrl)
  expect(standIn.hanging()).toBe(7)
  standIn.clearFaults()
})

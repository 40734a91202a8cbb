// Look-ups of numbers on WhatsApp Web: slowly, because bulk questions get accounts flagged, and once in seven days.
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from 'baileys'
import { expect, it } from 'vitest'
import { pruneWeb } from '../../src/providers/web/prune.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { environmentOf, openClient, openLoopback, rowsOf } from './rig.ts'

const ann = '393331234567'

it('asks for 20 numbers at once and once a second, and again after seven days', async () => {
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback(ann)
  const client = await openClient(databaseUrl, await openGateway({ databaseUrl, env: environmentOf(network) }))
  const instanceId = await client.pair(network, '390000000063')
  const sizes = () =>
    network.requests
      .filter(({ attrs }) => attrs.xmlns === 'usync')
      .map((request: BinaryNode) => {
        const list = getBinaryNodeChild(getBinaryNodeChild(request, 'usync'), 'list')
        return getBinaryNodeChildren(list, 'user').length
      })
  const ask = async (numbers: string[]) => (await client.api.post('number-lookups', { instanceId, numbers })).body.data
  const numbers = [`+${ann}`, ...Array.from({ length: 44 }, (_, i) => `+39333999${1_000 + i}`)]
  const askedAt = performance.now()
  const found = await ask(numbers)
  expect(performance.now() - askedAt).toBeGreaterThan(2_000)
  expect(sizes()).toEqual([20, 20, 5])
  expect(found.map(({ exists }: { exists: boolean }) => exists)).toEqual(numbers.map((number) => number === `+${ann}`))

  const age = (hours: number) =>
    rowsOf(databaseUrl, `update web_numbers set "checkedAt" = now() - $1 * interval '1 hour'`, [hours])
  await age(7 * 24 - 1)
  await ask(numbers)
  expect(sizes()).toHaveLength(3)
  await age(7 * 24)
  await ask(numbers.slice(0, 5))
  expect(sizes()).toEqual([20, 20, 5, 5])
})

it('finds a number whose address on the network has other digits', async () => {
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback(ann, '551187654321')
  network.addresses.set('5511987654321', '551187654321')
  const client = await openClient(databaseUrl, await openGateway({ databaseUrl, env: environmentOf(network) }))
  const instanceId = await client.pair(network, '390000000064')
  const numbers = ['+5511987654321', `+${ann}`, '+5511987654322']
  const { body } = await client.api.post('number-lookups', { instanceId, numbers })
  expect(body.data.map(({ exists }: { exists: boolean }) => exists)).toEqual([true, true, false])
})

it('sends to the address that the network named, also later than seven days after, and reads the answer to numbered options', async () => {
  const typed = '+5511987654321'
  const written = '551187654321'
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback(written)
  network.addresses.set(typed.slice(1), written)
  const gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
  const client = await openClient(databaseUrl, gateway)
  const shop = '390000000069'
  const instanceId = await client.pair(network, shop)
  await client.api.post('number-lookups', { instanceId, numbers: [typed] })
  await rowsOf(databaseUrl, `update web_numbers set "checkedAt" = now() - interval '8 days'`)
  await pruneWeb.prune(gateway.app)
  const buttons = [{ type: 'reply', displayText: 'Yes', id: 'yes' }]
  const { status } = await client.api.post('messages/send', {
    instanceId,
    to: typed,
    type: 'buttons',
    title: 'Coming?',
    description: 'Tell us',
    buttons,
  })
  expect(status).toBe(201)
  await until(() => network.arrived.some(({ to }) => to === written))
  const answer = await network.write(written, shop, { conversation: '1' })
  const stored = 'select "from", content from messages where "providerMessageId" = $1'
  const [received] = await until(async () => {
    const rows = await rowsOf(databaseUrl, stored, [answer])
    return rows.length > 0 ? rows : undefined
  })
  expect(received).toMatchObject({ from: `+${written}`, content: { kind: 'button', buttonId: 'yes' } })
  await network.write(written, shop, { conversation: 'STOP' })
  await until(async () => {
    const { suppressions } = (await client.api.get('suppressions')).body.data
    return suppressions.some(({ phone }: { phone: string }) => phone === typed)
  })
})

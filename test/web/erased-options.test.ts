// The numbered options of a message are a part of it: they go when it is erased or expires.
import { expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { environmentOf, openClient, openLoopback, rowsOf } from './rig.ts'

const [ann, bob] = ['393331234567', '393331234568']

it('the options of an erased message are gone, and those of other people stay', async () => {
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback(ann, bob)
  const { api, pair } = await openClient(databaseUrl, await openGateway({ databaseUrl, env: environmentOf(network) }))
  const instanceId = await pair(network, '390000000172')
  const contact = (await api.post('contacts', { name: 'Ann', phone: `+${ann}` })).body.data
  const buttons = [{ type: 'reply', displayText: 'Yes', id: 'y' }]
  for (const digits of [ann, bob]) {
    const question = { type: 'buttons', title: 'Come?', description: 'Tonight', buttons }
    const { body } = await api.post('messages/send', { instanceId, to: `+${digits}`, ...question })
    await until(async () => (await api.get(`messages/${body.data.id}`)).body.data.status === 'sent')
  }
  const peers = async () => (await rowsOf(databaseUrl, 'select peer from web_options order by peer')).map(({ peer }) => peer)
  expect(await peers()).toEqual([`+${ann}`, `+${bob}`])
  expect((await api.delete(`contacts/${contact.id}?erase=true`)).status).toBe(200)
  await until(async () => (await rowsOf(databaseUrl, 'select from messages where peer = $1', [`+${ann}`])).length === 0)
  expect(await peers()).toEqual([`+${bob}`])
})

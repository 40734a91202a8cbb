// A template tells how many campaigns were made with it.
import { expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { openRig } from '../rest-compat/rig.ts'
import { campaignTo, expectCreated, numbers } from './rig.ts'

it('counts the campaigns of each template in one list', async () => {
  const { tenant } = await openRig()
  const { api, instance } = tenant
  const make = async () => (await api.post('templates', { name: newId(), type: 'text', body: 'Hello' })).body.data.id as string
  const [used, unused] = [await make(), await make()]
  const fields = { type: undefined, text: undefined, templateId: used }
  for (const end of ['5555', '6666']) expectCreated(await api.post('campaigns', campaignTo(instance.id, numbers(1, end), fields)))
  expectCreated(await api.post('campaigns', campaignTo(instance.id, numbers(1))))
  const { templates } = (await api.graphql('{ templates { id campaignsCount } }')).body.data
  const counts = new Map(templates.map((one: { id: string; campaignsCount: number }) => [one.id, one.campaignsCount]))
  expect([counts.get(used), counts.get(unused)]).toEqual([2, 0])
})

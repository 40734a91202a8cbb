// A file that was deleted is not sent, neither by its address nor by a template that has it.
import { beforeAll, expect, it } from 'vitest'
import type { Api } from '../kit/api.ts'
import { openScene, type Scene } from '../kit/scene.ts'
import { sized, upload } from './rig.ts'

let scene: Scene
let client: Api
let url: string
let templateId: string

beforeAll(async () => {
  scene = await openScene({ env: { LOG_LEVEL: 'warn' } })
  client = scene.client()
  const gateway = scene.gateways[0] as { url: string }
  const file = (await upload(gateway, scene.account.apiKey, sized('image/png', 100))).body.data
  url = file.url
  templateId = (await client.post('templates', { name: 'Picture', type: 'image', body: '', mediaUrl: url })).body.data.id
  await client.delete(`media/${file.id}`)
})

const refusal = { code: 'TEMPLATE_INVALID', message: expect.stringContaining('mediaUrl: ') }
const message = () => ({ instanceId: scene.phone.id, to: '+393331235555', templateId })
const later = () => new Date(Date.now() + 60_000).toISOString()

it('by its address', async () => {
  const picture = { instanceId: scene.phone.id, type: 'image', mediaUrl: url }
  const refused = expect.objectContaining({ code: 'VALIDATION_ERROR', message: expect.stringContaining('mediaUrl: ') })
  const sent = await client.post('messages/send', { ...picture, to: '+393331235555' })
  expect([sent.status, sent.body.error]).toEqual([400, refused])
  const made = await client.post('campaigns', { ...picture, name: 'News', recipients: [{ to: '+393331235555' }] })
  expect([made.status, made.body.error]).toEqual([400, refused])
})

it('by a template in a message, instant, scheduled or in a bulk', async () => {
  const sent = await client.post('messages/send', message())
  expect([sent.status, sent.body.error]).toEqual([400, expect.objectContaining(refusal)])
  const scheduled = await client.post('messages/schedule', { ...message(), scheduledAt: later() })
  expect([scheduled.status, scheduled.body.error]).toEqual([400, expect.objectContaining(refusal)])
  const { body } = await client.post('messages/bulk', { messages: [message()] })
  expect(body.data.rejected).toMatchObject([refusal])
})

it('by a template in a campaign', async () => {
  const recipients = [{ to: '+393331235555' }]
  const made = await client.post('campaigns', { instanceId: scene.phone.id, name: 'News', templateId, recipients })
  expect([made.status, made.body.error]).toEqual([400, expect.objectContaining(refusal)])
})

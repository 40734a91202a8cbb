// A file of this gateway in a message: its type must be one that the message can show, and it must exist.
import { beforeAll, describe, expect, it } from 'vitest'
import { campaign, expectRefusal, nobody, openRig, type Rig, template, text } from '../rest-compat/rig.ts'
import { samples, upload } from './rig.ts'

let rig: Rig
/** The addresses of uploaded files by their extension. */
const urls: Record<string, string> = {}

beforeAll(async () => {
  rig = await openRig()
  const types = { txt: 'text/plain', png: 'image/png', mp4: 'video/mp4', mp3: 'audio/mpeg' }
  for (const [extension, type] of Object.entries(types)) {
    const { body } = await upload(rig.gateway, rig.tenant.account.apiKey, samples[type] as Buffer)
    urls[extension] = body.data.url
  }
})

/** The types that each file fits. */
const fits: Record<string, string[]> = {
  png: ['image', 'document'],
  mp4: ['video', 'document'],
  mp3: ['audio', 'voice_note', 'document'],
  txt: ['document'],
}

describe('a message with an uploaded file', () => {
  it.each(['image', 'video', 'audio', 'voice_note', 'document'])(
    'of type %s takes what it can show, and refuses the rest',
    async (type) => {
      const { api } = rig.tenant
      for (const [extension, types] of Object.entries(fits)) {
        const fields = { type, text: undefined, mediaUrl: urls[extension] }
        const mutation = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { mediaUrl } }'
        const rest = await api.post('messages/send', text(rig.tenant, fields))
        const graph = await api.graphql(mutation, { input: text(rig.tenant, fields) })
        if (types.includes(type)) {
          expect([rest.body.data?.mediaUrl, graph.body.data?.sendMessage.mediaUrl]).toEqual([urls[extension], urls[extension]])
        } else {
          const message = /^mediaUrl: must be an? .*, but the file is an? /
          expectRefusal(rest, 400, 'VALIDATION_ERROR', message)
          expect(graph.body.errors[0].message).toMatch(message)
          expectRefusal(await api.post('campaigns', campaign(rig.tenant, fields)), 400, 'VALIDATION_ERROR', message)
        }
      }
    },
  )

  it('that does not exist, or was deleted, is refused', async () => {
    const { api, account } = rig.tenant
    const { body } = await upload(rig.gateway, account.apiKey, 'soon gone')
    await api.delete(`media/${body.data.id}`)
    const never = `${rig.gateway.url}/media/${'A'.repeat(43)}.png`
    // The address of an upload with another extension leads to no file either.
    for (const mediaUrl of [body.data.url, never, urls.txt?.replace(/txt$/, 'pdf')]) {
      const fields = { type: 'document', text: undefined, mediaUrl }
      // The fault of the body comes before an instance that does not exist.
      for (const given of [fields, { ...fields, instanceId: nobody }]) {
        for (const [path, input] of Object.entries({
          'messages/send': text(rig.tenant, given),
          campaigns: campaign(rig.tenant, given),
        })) {
          expectRefusal(await api.post(path, input), 400, 'VALIDATION_ERROR', /^mediaUrl: must lead to a file/)
        }
      }
      const messages = [text(rig.tenant, fields), text(rig.tenant), text(rig.tenant, { ...fields, instanceId: nobody })]
      const { accepted, rejected } = (await api.post('messages/bulk', { messages })).body.data
      expect([accepted.length, rejected.map(({ code }: { code: string }) => code)]).toEqual([
        1,
        ['VALIDATION_ERROR', 'VALIDATION_ERROR'],
      ])
      expectRefusal(
        await api.post('templates', template({ type: 'document', mediaUrl })),
        400,
        'TEMPLATE_INVALID',
        /^mediaUrl: must lead/,
      )
    }
  })
})

it('a template refuses a file that its messages cannot show, when created and when changed', async () => {
  const { api } = rig.tenant
  const message = 'mediaUrl: must be an image, but the file is a document'
  expectRefusal(await api.post('templates', template({ type: 'image', mediaUrl: urls.txt })), 400, 'TEMPLATE_INVALID', message)
  const { id } = (await api.post('templates', template({ type: 'document', mediaUrl: urls.txt }))).body.data
  expectRefusal(await api.put(`templates/${id}`, { type: 'image' }), 400, 'TEMPLATE_INVALID', message)
  const change = 'mutation ($id: ID!) { updateTemplate(id: $id, input: { type: video }) { id } }'
  const { errors } = (await api.graphql(change, { id })).body
  expect(errors[0].extensions.code).toBe('TEMPLATE_INVALID')
  expect((await api.put(`templates/${id}`, { type: 'image', mediaUrl: urls.png })).status).toBe(200)
})

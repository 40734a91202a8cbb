// The stand-in of the Graph API refuses what Meta's documentation forbids, so that a message which it takes is one that Meta takes.
import { expect, it } from 'vitest'
import { checkMessage, checkRead, checkSize, kindOf, Refusal, type Sender } from './stand-in-check.ts'

const sender: Sender = {
  waNumber: '+1 555-078-3881',
  templates: [
    { name: 'bill', language: 'en_US', parameters: 1, header: 'document' },
    { name: 'named', language: 'it', parameters: 1, names: ['day'] },
  ],
  upload: (id) => {
    const mimeTypes: Record<string, string> = { '1': 'image/png', '2': 'audio/mpeg', '3': 'audio/ogg; codecs=opus' }
    const mimeType = mimeTypes[id]
    return mimeType === undefined ? undefined : { id, phoneNumberId: '9', mimeType, bytes: Buffer.alloc(1) }
  },
}

const common = { messaging_product: 'whatsapp', recipient_type: 'individual', to: '393331234567' }
const text = { ...common, type: 'text', text: { body: 'hello' } }
const reply = (id: string, title: string) => ({ type: 'reply', reply: { id, title } })
const buttons = (parts: object, list: object[] = [reply('a', 'A')]) => ({
  ...common,
  type: 'interactive',
  interactive: { type: 'button', body: { text: 'Which?' }, action: { buttons: list }, ...parts },
})
const person = (name: object) => ({ ...common, type: 'contacts', contacts: [{ name, phones: [{ phone: '+39333' }] }] })
const value = { type: 'text', text: '7' }
const template = (name: string, code: string, ...components: object[]) => {
  return { ...common, type: 'template', template: { name, language: { code }, components } }
}
const bill = { type: 'header', parameters: [{ type: 'document', document: { link: 'https://example.com/a.pdf' } }] }

it.each<[string, object]>([
  ['a text', text],
  ['the largest text', { ...text, text: { body: 'x'.repeat(4096) } }],
  ['three buttons', buttons({}, [reply('a', 'A'), reply('b', 'B'), reply('c', 'C')])],
  ['a voice note', { ...common, type: 'audio', audio: { id: '3', voice: true } }],
  ['a template with its file', template('bill', 'en_US', bill, { type: 'body', parameters: [value] })],
])('takes %s', (_, body) => {
  expect(checkMessage(body, sender)).toBe(body)
})

it.each<[string, number, object]>([
  ['another product', 131009, { ...text, messaging_product: 'messenger' }],
  ['no product', 131008, { ...text, messaging_product: undefined }],
  ['no recipient', 131008, { ...text, to: undefined }],
  ['a number of other characters', 131009, { ...text, to: '+39 333' }],
  ['itself', 131021, { ...text, to: '15550783881' }],
  ['an unknown type', 100, { ...common, type: 'voice_note', voice_note: {} }],
  ['an unknown field', 100, { ...text, priority: 1 }],
  ['content of another type', 100, { ...text, image: { link: 'https://example.com/a.png' } }],
  ['no content', 131008, { ...common, type: 'text' }],
  ['an empty text', 131009, { ...text, text: { body: '' } }],
  ['a longer text', 131009, { ...text, text: { body: 'x'.repeat(4097) } }],
  ['a longer reference', 131009, { ...text, biz_opaque_callback_data: 'x'.repeat(513) }],
  ['a file without a source', 131009, { ...common, type: 'image', image: {} }],
  ['a file with two sources', 131009, { ...common, type: 'image', image: { id: '1', link: 'https://example.com/a.png' } }],
  ['an upload of another number', 100, { ...common, type: 'image', image: { id: '5' } }],
  ['an upload of another kind', 131053, { ...common, type: 'video', video: { id: '1' } }],
  ['a caption of an audio', 100, { ...common, type: 'audio', audio: { id: '2', caption: 'Listen' } }],
  ['a longer caption', 131009, { ...common, type: 'image', image: { id: '1', caption: 'x'.repeat(1025) } }],
  ['a voice note that is MP3', 131053, { ...common, type: 'audio', audio: { id: '2', voice: true } }],
  ['a latitude beyond the pole', 131009, { ...common, type: 'location', location: { latitude: 91, longitude: 0 } }],
  ['a longitude as text', 131009, { ...common, type: 'location', location: { latitude: 1, longitude: '0' } }],
  ['a name without parts', 131009, person({ formatted_name: 'Ann' })],
  ['no whole name', 131008, person({ first_name: 'Ann' })],
  ['no buttons', 131009, buttons({}, [])],
  [
    'four buttons',
    131009,
    buttons(
      {},
      ['a', 'b', 'c', 'd'].map((id) => reply(id, id)),
    ),
  ],
  ['a longer title', 131009, buttons({}, [reply('a', 'x'.repeat(21))])],
  ['two equal titles', 131009, buttons({}, [reply('a', 'A'), reply('b', 'A')])],
  ['two equal ids', 131009, buttons({}, [reply('a', 'A'), reply('a', 'B')])],
  ['an id with a blank at its end', 131009, buttons({}, [reply('a ', 'A')])],
  ['buttons without a body', 131008, buttons({ body: undefined })],
  ['a longer header', 131009, buttons({ header: { type: 'text', text: 'x'.repeat(61) } })],
  ['a longer footer', 131009, buttons({ footer: { text: 'x'.repeat(61) } })],
  ['an unknown template', 132001, template('other', 'en_US')],
  ['a template in another language', 132001, template('bill', 'it')],
  ['too few values', 132000, template('bill', 'en_US', bill)],
  ['no file in the header', 132012, template('bill', 'en_US', { type: 'body', parameters: [value] })],
  ['a value without its name', 132000, template('named', 'it', { type: 'body', parameters: [value] })],
])('refuses %s with %i', (_, code, body) => {
  const refusal = (() => {
    try {
      return checkMessage(JSON.parse(JSON.stringify(body)), sender)
    } catch (error) {
      return error
    }
  })()
  expect(refusal).toBeInstanceOf(Refusal)
  expect(refusal).toMatchObject({ code })
})

it('takes the files that Meta takes, up to their sizes', () => {
  const kinds = { 'image/png': 'image', 'video/mp4': 'video', 'audio/mpeg': 'audio', 'application/pdf': 'document' }
  for (const [mimeType, kind] of Object.entries(kinds)) expect(kindOf(mimeType)).toBe(kind)
  for (const mimeType of ['image/gif', 'audio/ogg', 'application/zip', 'text/html']) expect(kindOf(mimeType)).toBeUndefined()
  const mebi = 1024 ** 2
  for (const [mimeType, most] of [
    ['image/png', 5],
    ['video/mp4', 16],
    ['audio/mpeg', 16],
    ['application/pdf', 100],
  ] as const) {
    expect(() => checkSize(mimeType, most * mebi)).not.toThrow()
    expect(() => checkSize(mimeType, most * mebi + 1)).toThrow(Refusal)
  }
  expect(() => checkSize('image/png', 0)).toThrow(Refusal)
})

it('takes a mark as read of one received message, and nothing else', () => {
  const read = { messaging_product: 'whatsapp', status: 'read', message_id: 'wamid.1' }
  expect(checkRead(read)).toEqual({ success: true })
  for (const wrong of [{ status: 'delivered' }, { message_id: undefined }, { message_id: '1' }, { to: '39333' }])
    expect(() => checkRead({ ...read, ...wrong })).toThrow(Refusal)
})

// Each kind of message of the network becomes a type, a text and parts of ours.
import { expect, it } from 'vitest'
import { contentFrom } from '../../src/providers/web/inbound-content.ts'

const file = { directPath: '/d', mediaKey: Buffer.from('key'), mimetype: 'image/webp; codecs=x', url: 'https://mmg.example/f' }
const vcard = (line: string) => `BEGIN:VCARD\nVERSION:3.0\nFN:Ann\n${line}\nEND:VCARD`

it.each([
  ['a text', { conversation: 'Hi' }, { type: 'text', body: 'Hi', content: { kind: 'text' } }],
  ['a text with a link', { extendedTextMessage: { text: 'see' } }, { type: 'text', body: 'see', content: { kind: 'text' } }],
  ['an image', { imageMessage: { ...file, caption: 'Look' } }, { type: 'image', body: 'Look', content: { kind: 'image' } }],
  ['a video', { videoMessage: { ...file, caption: null } }, { type: 'video', body: '', content: { kind: 'video' } }],
  ['a round video', { ptvMessage: file }, { type: 'video', content: { kind: 'video' } }],
  ['a sound', { audioMessage: file }, { type: 'audio', content: { kind: 'audio' } }],
  ['a voice note', { audioMessage: { ...file, ptt: true } }, { type: 'voice_note', content: { kind: 'voice_note' } }],
  ['a document', { documentMessage: { ...file, fileName: 'a.pdf' } }, { type: 'document', content: { kind: 'document' } }],
  ['a sticker', { stickerMessage: file }, { type: 'image', body: '', content: { kind: 'sticker' } }],
  [
    'a place',
    { locationMessage: { degreesLatitude: 1, degreesLongitude: 2, name: 'Duomo', address: 'Milano' } },
    {
      type: 'location',
      body: 'Duomo',
      content: { kind: 'location', latitude: 1, longitude: 2, name: 'Duomo', address: 'Milano' },
    },
  ],
  [
    'a live place',
    { liveLocationMessage: { degreesLatitude: 1.5, degreesLongitude: 2 } },
    { type: 'location', body: '1.5, 2', content: { kind: 'location', latitude: 1.5, longitude: 2, name: null } },
  ],
  [
    'a contact',
    { contactMessage: { displayName: 'Ann', vcard: vcard('TEL;waid=393331234567:+39 333 1234567') } },
    { type: 'contact', body: 'Ann', content: { kind: 'contact', contacts: [{ name: 'Ann', phone: '+393331234567' }] } },
  ],
  [
    'a contact of an iPhone',
    { contactMessage: { displayName: 'Ann', vcard: vcard('item1.TEL:+39 333 1234567') } },
    { content: { contacts: [{ name: 'Ann', phone: '+393331234567' }] } },
  ],
  [
    'a contact whose number has no-break spaces',
    { contactMessage: { displayName: 'Ann', vcard: vcard('item2.tel;type=CELL:+39\u00a0333\u00a0123\u00a04567') } },
    { content: { contacts: [{ name: 'Ann', phone: '+393331234567' }] } },
  ],
  [
    'a contact whose second number is E.164',
    { contactMessage: { displayName: 'Ann', vcard: vcard('TEL:0333 1\nitem1.TEL:+39.333.1234567') } },
    { content: { contacts: [{ name: 'Ann', phone: '+393331234567' }] } },
  ],
  [
    'several contacts',
    {
      contactsArrayMessage: {
        contacts: [
          { displayName: 'Ann', vcard: vcard('TEL;type=CELL:+39 333-1234567') },
          { displayName: 'Bo', vcard: vcard('EMAIL:bo@example.com') },
        ],
      },
    },
    {
      type: 'contact',
      body: 'Ann, Bo',
      content: {
        contacts: [
          { name: 'Ann', phone: '+393331234567' },
          { name: 'Bo', phone: null },
        ],
      },
    },
  ],
  [
    'the answer to a button',
    { buttonsResponseMessage: { selectedButtonId: 'y', selectedDisplayText: 'Yes' } },
    { type: 'text', body: 'Yes', content: { kind: 'button', buttonId: 'y' } },
  ],
  [
    'the answer to a button without a label',
    { buttonsResponseMessage: { selectedButtonId: 'y' } },
    { type: 'text', body: 'y', content: { kind: 'button', buttonId: 'y' } },
  ],
  [
    'a quick reply of a template',
    { templateButtonReplyMessage: { selectedId: 'y', selectedDisplayText: 'Yes' } },
    { type: 'text', body: 'Yes', content: { kind: 'button', buttonId: 'y' } },
  ],
  [
    'a row of a list',
    { listResponseMessage: { title: 'Red', singleSelectReply: { selectedRowId: 'r1' } } },
    { type: 'text', body: 'Red', content: { kind: 'list', buttonId: 'r1' } },
  ],
  [
    'a row of a list without an id',
    { listResponseMessage: { title: 'Red' } },
    { type: 'text', body: 'Red', content: { kind: 'list', buttonId: 'Red' } },
  ],
  [
    'the answer to a native button',
    { interactiveResponseMessage: { body: { text: 'Yes' }, nativeFlowResponseMessage: { paramsJson: '{"id":"y"}' } } },
    { type: 'text', body: 'Yes', content: { kind: 'button', buttonId: 'y' } },
  ],
  [
    'an answer whose parameters are broken',
    { interactiveResponseMessage: { body: { text: 'Yes' }, nativeFlowResponseMessage: { paramsJson: '{' } } },
    { type: 'text', body: 'Yes', content: { kind: 'button', buttonId: 'Yes' } },
  ],
  [
    'a reaction',
    { reactionMessage: { text: '👍', key: { id: 'X1' } } },
    { type: 'unknown', body: '👍', content: { kind: 'reaction', reactedTo: 'X1' } },
  ],
  ['a poll', { pollCreationMessage: { name: 'When?' } }, { type: 'unknown', body: '', content: { kind: 'unsupported' } }],
  [
    'a disappearing text that answers another message',
    { ephemeralMessage: { message: { extendedTextMessage: { text: 'so', contextInfo: { stanzaId: 'X2' } } } } },
    { type: 'text', body: 'so', content: { kind: 'text', replyTo: 'X2' } },
  ],
  [
    'an image to be seen once',
    { viewOnceMessageV2: { message: { imageMessage: file } } },
    { type: 'image', content: { kind: 'image' } },
  ],
  [
    'a picture that belongs to another message',
    { associatedChildMessage: { message: { imageMessage: { ...file, caption: 'Look' } } } },
    { type: 'image', body: 'Look', content: { kind: 'image' }, media: { mimeType: 'image/webp' } },
  ],
  [
    'a sticker that moves',
    { lottieStickerMessage: { message: { stickerMessage: file } } },
    { type: 'image', body: '', content: { kind: 'sticker' }, media: { mimeType: 'image/webp' } },
  ],
])('%s', (_, message, expected) => {
  expect(contentFrom(message)).toMatchObject(expected)
})

it('names a file by what its download needs', () => {
  const { media } = contentFrom({ documentMessage: { ...file, fileName: 'a.pdf' } }) ?? {}
  expect(media).toMatchObject({ mimeType: 'image/webp', fileName: 'a.pdf' })
  expect(JSON.parse(media?.reference ?? '')).toEqual({
    kind: 'document',
    directPath: '/d',
    mediaKey: Buffer.from('key').toString('base64'),
    url: 'https://mmg.example/f',
  })
  // Without its key, a file can never be read.
  expect(contentFrom({ imageMessage: { directPath: '/d' } })?.media).toBeUndefined()
})

it.each([
  ['keys', { senderKeyDistributionMessage: { groupId: 'g' } }],
  ['deletions and settings', { protocolMessage: { type: 0 } }],
  ['edits', { editedMessage: { message: { protocolMessage: { type: 14, editedMessage: { conversation: 'Hi!' } } } } }],
])('%s between clients are no message', (_, message) => {
  expect(contentFrom(message)).toBeUndefined()
})

// Message bodies without instance and recipient: valid ones of each type up to each limit, and invalid ones beyond it.
import { needsFile, sendTypes } from '../../src/message-types/service.ts'
import { nobody } from './rig.ts'

const file = 'https://files.example.com/a.bin'
const button = (id: string) => ({ type: 'reply', displayText: 'Yes', id })
const emoji = '\u{1f600}'

/** Each entry: a name, the fields sent besides instanceId and to, and the fields expected in the record. */
export const goodBodies: [name: string, fields: Record<string, unknown>, record: Record<string, unknown>][] = [
  ['text', { type: 'text', text: 'Hello' }, { body: 'Hello' }],
  ['a text of 1', { type: 'text', text: 'x' }, { body: 'x' }],
  ['a text of 4096', { type: 'text', text: 'x'.repeat(4096) }, { body: 'x'.repeat(4096) }],
  ['a text of 4096 emoji', { type: 'text', text: emoji.repeat(4096) }, { body: emoji.repeat(4096) }],
  ['image', { type: 'image', mediaUrl: file, text: 'Look' }, { type: 'image', body: 'Look', mediaUrl: file }],
  ['image without caption', { type: 'image', mediaUrl: file }, { type: 'image', body: '', mediaUrl: file }],
  [
    'a caption of 1024',
    { type: 'image', mediaUrl: file, text: 'x'.repeat(1024) },
    { type: 'image', body: 'x'.repeat(1024), mediaUrl: file },
  ],
  ['video', { type: 'video', mediaUrl: file, text: 'Look' }, { type: 'video', body: 'Look', mediaUrl: file }],
  ['audio', { type: 'audio', mediaUrl: file }, { type: 'audio', body: '', mediaUrl: file }],
  ['voice_note', { type: 'voice_note', mediaUrl: file }, { type: 'voice_note', body: '', mediaUrl: file }],
  ['document', { type: 'document', mediaUrl: file, text: 'Bill' }, { type: 'document', body: 'Bill', mediaUrl: file }],
  [
    'plain http media',
    { type: 'document', mediaUrl: 'http://files.example.com/a' },
    { type: 'document', body: '', mediaUrl: 'http://files.example.com/a' },
  ],
  [
    'location',
    { type: 'location', latitude: 90, longitude: -180, locationName: 'Pole', locationAddress: 'North' },
    { type: 'location', body: 'Pole' },
  ],
  ['location without name', { type: 'location', latitude: -90, longitude: 180 }, { type: 'location', body: '' }],
  [
    'buttons',
    {
      type: 'buttons',
      title: 'x'.repeat(60),
      description: 'x'.repeat(1024),
      footer: 'x'.repeat(60),
      buttons: [button('a'), button('b'), button('c')],
    },
    { type: 'buttons', body: 'x'.repeat(1024) },
  ],
  [
    'one button',
    { type: 'buttons', description: 'Sure?', buttons: [{ type: 'reply', displayText: 'x'.repeat(20), id: 'x'.repeat(256) }] },
    { type: 'buttons', body: 'Sure?' },
  ],
  [
    'unknown fields, ignored',
    {
      type: 'text',
      text: 'x',
      id: nobody,
      userId: nobody,
      status: 'read',
      createdAt: '2001-01-01T00:00:00Z',
      safety: {},
      plan: 'max',
      nonsense: 1,
    },
    { body: 'x' },
  ],
]

const media = 'must be an absolute http(s) URL'
const privately = 'must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS'
const badText = 'must not contain NUL or unpaired surrogates'
const number = 'must be an E.164 number, for example +393331234567'

/** Each entry: the fault in the body, the fields sent, and the expected message. */
export const badBodies: [name: string, fields: Record<string, unknown>, message: string | RegExp][] = [
  ['no type and no template', {}, 'type: is required, unless templateId is given'],
  ['type and template', { type: 'text', text: 'x', templateId: nobody }, 'templateId: cannot be given together with type'],
  ['an unknown type', { type: 'hologram' }, `type: must be one of ${sendTypes.join(', ')}`],
  ['a type that only comes in', { type: 'unknown' }, `type: must be one of ${sendTypes.join(', ')}`],
  ['no instance', { instanceId: undefined, type: 'text', text: 'x' }, 'instanceId: is required'],
  ['a name as instance', { instanceId: 'Phone', type: 'text', text: 'x' }, 'instanceId: must be a UUID'],
  ['braces around a UUID', { instanceId: `{${nobody}}`, type: 'text', text: 'x' }, 'instanceId: must be a UUID'],
  ['no number', { to: undefined, type: 'text', text: 'x' }, 'to: is required'],
  ...[
    '393331234567',
    '+0393331234567',
    '+1234567',
    '+1234567890123456',
    '+39 333 1234567',
    '+3933312345ab',
    '+1;rm',
    '+٣٩٣٣٣١٢٣٤٥٦٧',
    '＋393331234567',
    ' +393331234567',
    '+393331234567\n',
  ].map((to): [string, Record<string, unknown>, string] => [
    `the number ${JSON.stringify(to)}`,
    { to, type: 'text', text: 'x' },
    `to: ${number}`,
  ]),
  ['a time', { type: 'text', text: 'x', scheduledAt: '2030-01-01T00:00:00Z' }, 'scheduledAt: is only for scheduled messages'],
  ['no text', { type: 'text' }, 'text: is required'],
  ['an empty text', { type: 'text', text: '' }, 'text: is required'],
  ['a text of 4097', { type: 'text', text: 'x'.repeat(4097) }, 'text: must have at most 4096 characters'],
  ['a text of 4097 emoji', { type: 'text', text: emoji.repeat(4097) }, 'text: must have at most 4096 characters'],
  ['a number as text', { type: 'text', text: 5 }, 'text: must be a string'],
  ['NUL in a text', { type: 'text', text: 'a\0b' }, `text: ${badText}`],
  ['half a surrogate pair', { type: 'text', text: 'a\ud800b' }, `text: ${badText}`],
  ...sendTypes
    .filter(needsFile)
    .map((type): [string, Record<string, unknown>, string] => [`${type} without a file`, { type }, 'mediaUrl: is required']),
  [
    'a caption of 1025',
    { type: 'video', mediaUrl: file, text: 'x'.repeat(1025) },
    'text: must have at most 1024 characters as a caption',
  ],
  ['a relative file', { type: 'image', mediaUrl: '/a.png' }, `mediaUrl: ${media}`],
  ['a file:', { type: 'image', mediaUrl: 'file:///etc/passwd' }, `mediaUrl: ${media}`],
  ['data:', { type: 'image', mediaUrl: 'data:image/png;base64,AAAA' }, `mediaUrl: ${media}`],
  ['a private file', { type: 'image', mediaUrl: 'http://10.0.0.1/a.png' }, `mediaUrl: ${privately}`],
  ['the metadata address', { type: 'image', mediaUrl: 'http://169.254.169.254/latest' }, `mediaUrl: ${privately}`],
  ['a file at localhost', { type: 'image', mediaUrl: 'https://localhost/a.png' }, `mediaUrl: ${privately}`],
  [
    'an address of 2049',
    { type: 'image', mediaUrl: `https://a.example/${'x'.repeat(2031)}` },
    'mediaUrl: must have at most 2048 characters',
  ],
  ['no coordinates', { type: 'location' }, 'latitude: is required; longitude: is required'],
  ['a latitude past the pole', { type: 'location', latitude: 90.0001, longitude: 0 }, 'latitude: must be at most 90'],
  ['a longitude past the line', { type: 'location', latitude: 0, longitude: -180.0001 }, 'longitude: must be at least -180'],
  ['a latitude of 1e308', { type: 'location', latitude: 1e308, longitude: 0 }, 'latitude: must be at most 90'],
  ['a latitude as text', { type: 'location', latitude: '45', longitude: 0 }, 'latitude: must be a number'],
  ['no contact', { type: 'contact' }, 'contactId: is required'],
  ['a contact that is no UUID', { type: 'contact', contactId: '5' }, 'contactId: must be a UUID'],
  ['buttons without anything', { type: 'buttons' }, 'description: is required; buttons: is required'],
  ['no buttons', { type: 'buttons', description: 'x', buttons: [] }, 'buttons: must have 1 to 3 items'],
  [
    'four buttons',
    { type: 'buttons', description: 'x', buttons: ['a', 'b', 'c', 'd'].map(button) },
    'buttons: must have 1 to 3 items',
  ],
  [
    'the same button twice',
    { type: 'buttons', description: 'x', buttons: [button('a'), button('a')] },
    'buttons.1.id: must be unique in the message',
  ],
  [
    'a button without id',
    { type: 'buttons', description: 'x', buttons: [{ type: 'reply', displayText: 'x' }] },
    'buttons.0.id: is required',
  ],
  [
    'a button of 21',
    { type: 'buttons', description: 'x', buttons: [{ type: 'reply', displayText: 'x'.repeat(21), id: 'a' }] },
    'buttons.0.displayText: must have at most 20 characters',
  ],
  [
    'a button id of 257',
    { type: 'buttons', description: 'x', buttons: [button('x'.repeat(257))] },
    'buttons.0.id: must have at most 256 characters',
  ],
  [
    'a button of another kind',
    { type: 'buttons', description: 'x', buttons: [{ ...button('a'), type: 'url' }] },
    'buttons.0.type: must be reply',
  ],
  [
    'a title of 61',
    { type: 'buttons', title: 'x'.repeat(61), description: 'x', buttons: [button('a')] },
    'title: must have at most 60 characters',
  ],
  [
    'a footer of 61',
    { type: 'buttons', footer: 'x'.repeat(61), description: 'x', buttons: [button('a')] },
    'footer: must have at most 60 characters',
  ],
  [
    'a description of 1025',
    { type: 'buttons', description: 'x'.repeat(1025), buttons: [button('a')] },
    'description: must have at most 1024 characters',
  ],
  [
    'several at once',
    { to: '5', type: 'buttons', buttons: [button('a'), {}] },
    /^to: .*; .*buttons\.1\.type: .*description: is required/,
  ],
]

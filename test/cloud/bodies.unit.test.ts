// The body of each type of message, byte for byte as Meta's documentation has it.
import { expect, it } from 'vitest'
import { bodyOf, type FileReference } from '../../src/providers/cloud/bodies.ts'
import type { OutgoingMessage } from '../../src/providers/outgoing.ts'

function message(given: Partial<OutgoingMessage> & { type: OutgoingMessage['type'] }): OutgoingMessage {
  const usual = { messageId: 'our-id', to: '+393331234567', body: '', mediaUrl: null, content: null, template: null }
  return { ...usual, ...given } as OutgoingMessage
}

const link: FileReference = { link: 'https://example.com/a.bin' }
const upload: FileReference = { id: '77', extension: 'pdf' }
const buttons = [
  { type: 'reply' as const, id: 'yes', displayText: 'Yes' },
  { type: 'reply' as const, id: 'no', displayText: 'No' },
]

it.each<[string, OutgoingMessage, FileReference | undefined, string]>([
  ['text', message({ type: 'text', body: 'Ciao ☕' }), undefined, '"type":"text","text":{"body":"Ciao ☕","preview_url":false}'],
  [
    'image',
    message({ type: 'image', body: 'A view' }),
    link,
    '"type":"image","image":{"link":"https://example.com/a.bin","caption":"A view"}',
  ],
  ['image without caption', message({ type: 'image' }), { id: '5', extension: 'jpg' }, '"type":"image","image":{"id":"5"}'],
  ['video', message({ type: 'video', body: 'A tour' }), upload, '"type":"video","video":{"id":"77","caption":"A tour"}'],
  ['audio', message({ type: 'audio' }), link, '"type":"audio","audio":{"link":"https://example.com/a.bin"}'],
  ['voice note', message({ type: 'voice_note' }), upload, '"type":"audio","audio":{"id":"77","voice":true}'],
  [
    'document of ours',
    message({ type: 'document', body: 'Your bill' }),
    upload,
    '"type":"document","document":{"id":"77","filename":"document.pdf","caption":"Your bill"}',
  ],
  [
    'document elsewhere',
    message({ type: 'document' }),
    link,
    '"type":"document","document":{"link":"https://example.com/a.bin"}',
  ],
  [
    'location',
    message({
      type: 'location',
      content: { kind: 'location', latitude: 45.5, longitude: 9.2, name: 'Duomo', address: 'Piazza 1' },
    }),
    undefined,
    '"type":"location","location":{"latitude":45.5,"longitude":9.2,"name":"Duomo","address":"Piazza 1"}',
  ],
  [
    'location without words',
    message({ type: 'location', content: { kind: 'location', latitude: 0, longitude: 0, name: null, address: null } }),
    undefined,
    '"type":"location","location":{"latitude":0,"longitude":0}',
  ],
  [
    'contact',
    message({ type: 'contact', content: { kind: 'contact', name: 'Ann Mary Lee', phone: '+39333777' } }),
    undefined,
    '"type":"contacts","contacts":[{"name":{"formatted_name":"Ann Mary Lee","first_name":"Ann","last_name":"Mary Lee"},' +
      '"phones":[{"phone":"+39333777","type":"CELL","wa_id":"39333777"}]}]',
  ],
  [
    'buttons',
    message({ type: 'buttons', body: 'On Friday?', content: { kind: 'buttons', title: 'A date', footer: 'Bye', buttons } }),
    undefined,
    '"type":"interactive","interactive":{"type":"button","header":{"type":"text","text":"A date"},"body":{"text":"On Friday?"},' +
      '"footer":{"text":"Bye"},"action":{"buttons":[{"type":"reply","reply":{"id":"yes","title":"Yes"}},' +
      '{"type":"reply","reply":{"id":"no","title":"No"}}]}}',
  ],
  [
    'buttons without a text, whose title becomes it',
    message({
      type: 'buttons',
      content: { kind: 'buttons', title: 'A date', footer: null, buttons: buttons.slice(0, 1) },
    }),
    undefined,
    '"type":"interactive","interactive":{"type":"button","body":{"text":"A date"},' +
      '"action":{"buttons":[{"type":"reply","reply":{"id":"yes","title":"Yes"}}]}}',
  ],
  [
    'approved template',
    message({ type: 'text', body: 'Hi', template: { name: 'greeting', language: 'en_US', parameters: ['Ann', '7'] } }),
    undefined,
    '"type":"template","template":{"name":"greeting","language":{"code":"en_US"},"components":[{"type":"body","parameters":' +
      '[{"type":"text","text":"Ann"},{"type":"text","text":"7"}]}]}',
  ],
  [
    'approved template without values',
    message({ type: 'text', template: { name: 'hello', language: 'it', parameters: [] } }),
    undefined,
    '"type":"template","template":{"name":"hello","language":{"code":"it"}}',
  ],
  [
    'approved template with a header',
    message({ type: 'document', body: 'x', template: { name: 'bill', language: 'it', parameters: ['5'] } }),
    upload,
    '"type":"template","template":{"name":"bill","language":{"code":"it"},"components":[{"type":"header","parameters":' +
      '[{"type":"document","document":{"id":"77","filename":"document.pdf"}}]},{"type":"body","parameters":[{"type":"text","text":"5"}]}]}',
  ],
])('%s', (_, given, file, content) => {
  const start = '{"messaging_product":"whatsapp","recipient_type":"individual","to":"393331234567",'
  expect(JSON.stringify(bodyOf(given, file))).toBe(`${start}${content},"biz_opaque_callback_data":"our-id"}`)
})

// The table of message types, one row for each: its fields, the text of its record, what a provider is handed, an example.
// The inputs, the composition of messages, templates, campaigns, the API's examples and the tests read it.
import { z } from 'zod'
import { text } from '../core/validation.ts'
import type { OutgoingType } from '../providers/outgoing.ts'
import { button, checkButtons, checkCaption, checkFile, longestCaption, refuseFile, shared } from './fields.ts'
import { type MessageTypeRow, madeOf } from './row.ts'

const { text: words, mediaUrl, contactId } = shared
const nothing = () => null

/** A file that is shown without words. `kind`: the files that it shows, as media/kinds.ts names them. */
const file = (kind: string) => ({
  kind,
  ...madeOf({ fields: { mediaUrl }, required: ['mediaUrl'], check: checkFile(kind), body: () => '', content: nothing }),
})

/** A file with a caption. Without `kind` every file will do. */
const captionedFile = (kind?: string) => ({
  ...(kind && { kind }),
  ...madeOf({
    fields: { mediaUrl, text: words },
    required: ['mediaUrl'],
    check(...given) {
      checkCaption(...given)
      checkFile(kind)(...given)
    },
    longestText: longestCaption,
    body: (given) => given.text ?? '',
    content: nothing,
  }),
})

/** Callers see the types in this order. */
export const messageTypes = {
  text: {
    ...madeOf({
      fields: { text: words },
      required: ['text'],
      check: refuseFile,
      longestText: 4096,
      body: (given) => given.text,
      content: nothing,
    }),
    inTemplates: true,
    example: { summary: 'A text', fields: () => ({ text: 'Hello' }) },
  },
  image: {
    ...captionedFile('an image'),
    inTemplates: true,
    example: {
      summary: 'An image with a caption',
      fields: () => ({ mediaUrl: 'https://picsum.photos/id/10/600/400', text: 'The view from here' }),
    },
  },
  video: {
    ...captionedFile('a video'),
    inTemplates: true,
    example: { fields: () => ({ mediaUrl: 'https://example.com/tour.mp4', text: 'A tour of the house' }) },
  },
  audio: {
    ...file('an audio file'),
    inTemplates: true,
    example: { fields: () => ({ mediaUrl: 'https://example.com/song.mp3' }) },
  },
  voice_note: { ...file('an audio file'), example: { fields: () => ({ mediaUrl: 'https://example.com/voice.ogg' }) } },
  document: {
    ...captionedFile(),
    inTemplates: true,
    example: { summary: 'A document', fields: () => ({ mediaUrl: 'https://example.com/bill.pdf', text: 'Your bill' }) },
  },
  location: {
    ...madeOf({
      fields: {
        latitude: z.number().min(-90).max(90).nullish().describe('Decimal degrees, -90 to 90.'),
        longitude: z.number().min(-180).max(180).nullish().describe('Decimal degrees, -180 to 180.'),
        locationName: text(0, 1024).nullish().describe('The name of the place.'),
        locationAddress: text(0, 1024).nullish().describe('The address of the place, as text.'),
      },
      required: ['latitude', 'longitude'],
      body: ({ locationName }) => locationName ?? '',
      content: ({ latitude, longitude, locationName = null, locationAddress = null }) => ({
        kind: 'location' as const,
        latitude,
        longitude,
        name: locationName,
        address: locationAddress,
      }),
    }),
    example: {
      summary: 'A place',
      fields: () => ({ latitude: 52.5163, longitude: 13.3777, locationName: 'Brandenburg Gate' }),
    },
  },
  contact: {
    ...madeOf({
      fields: { contactId },
      required: ['contactId'],
      body: ({ contact }) => contact.name,
      content: ({ contact: { name, phone } }) => ({ kind: 'contact' as const, name, phone }),
    }),
    example: { summary: 'A contact', fields: (ids) => ({ contactId: ids.contactId }) },
  },
  buttons: {
    ...madeOf({
      fields: {
        title: text(0, 60).nullish().describe('The heading of a buttons message, up to 60 characters.'),
        description: text(0, 1024).nullish().describe('The text of a buttons message, 1 to 1024 characters.'),
        footer: text(0, 60).nullish().describe('The footer of a buttons message, up to 60 characters.'),
        buttons: z.array(button).nullish().describe('1 to 3 buttons.'),
      },
      required: ['description', 'buttons'],
      check: checkButtons,
      body: ({ description }) => description,
      content: ({ title = null, footer = null, buttons }) => ({ kind: 'buttons' as const, title, footer, buttons }),
    }),
    example: {
      summary: 'A question with buttons',
      fields: () => ({
        title: 'Your appointment',
        description: 'Does Friday at ten suit you?',
        buttons: [
          { type: 'reply', displayText: 'Yes', id: 'yes' },
          { type: 'reply', displayText: 'No', id: 'no' },
        ],
      }),
    },
  },
} satisfies { [Type in OutgoingType]: MessageTypeRow<Type> }

// Bodies that work as they stand on a gateway with the demo account, by operation. A test sends every one.

/** The ids of what the demo account has (src/demo.ts). */
export const demoIds = {
  instance: '01980000-0000-7000-8000-000000000001',
  contact: '01980000-0000-7000-8000-000000000002',
  group: '01980000-0000-7000-8000-000000000003',
  template: '01980000-0000-7000-8000-000000000004',
} as const

export interface Example {
  summary: string
  value: unknown
}

const to = '+4915112345678'
const { instance: instanceId } = demoIds

export const examples: Record<string, Record<string, Example>> = {
  sendMessage: {
    text: { summary: 'A text', value: { instanceId, to, type: 'text', text: 'Hello' } },
    image: {
      summary: 'An image with a caption',
      value: { instanceId, to, type: 'image', mediaUrl: 'https://picsum.photos/id/10/600/400', text: 'The view from here' },
    },
    document: {
      summary: 'A document',
      value: { instanceId, to, type: 'document', mediaUrl: 'https://example.com/bill.pdf', text: 'Your bill' },
    },
    location: {
      summary: 'A place',
      value: { instanceId, to, type: 'location', latitude: 52.5163, longitude: 13.3777, locationName: 'Brandenburg Gate' },
    },
    buttons: {
      summary: 'A question with buttons',
      value: {
        instanceId,
        to,
        type: 'buttons',
        title: 'Your appointment',
        description: 'Does Friday at ten suit you?',
        buttons: [
          { type: 'reply', displayText: 'Yes', id: 'yes' },
          { type: 'reply', displayText: 'No', id: 'no' },
        ],
      },
    },
  },
  scheduleMessage: {
    text: {
      summary: 'A text, later',
      value: { instanceId, to, type: 'text', text: 'Later', scheduledAt: '2030-01-31T10:00:00Z' },
    },
  },
}

// Example request bodies by operation. They work unchanged on a gateway with the demo account, and a test sends each.
import type { DemoIds, Example, Examples, TypeExample } from './example.ts'
import { peopleExamples } from './examples-people.ts'

const to = '+4915112345678'

/** Examples by operation, then by name. */
export function examplesFor(
  { instanceId, contactId, groupId, templateId }: DemoIds,
  types: Readonly<Record<string, TypeExample>>,
): Examples {
  const message = { instanceId, to }
  const text = { ...message, type: 'text', text: 'Hello' }
  const order = { templateId, contactId, variables: { order: '4711' } }
  return {
    ...peopleExamples,
    sendMessage: {
      ...ofTypes(message, types),
      template: { summary: 'A template, filled in', value: { ...message, ...order } },
    },
    scheduleMessage: {
      text: { summary: 'A text, later', value: { ...text, text: 'Later', scheduledAt: halfAYearAhead() } },
      template: { summary: 'A template, later', value: { ...message, ...order, scheduledAt: halfAYearAhead() } },
    },
    sendMessages: {
      two: {
        summary: 'One now, one later',
        value: { messages: [text, { ...text, to: '+4915112345679', text: 'Later', scheduledAt: halfAYearAhead() }] },
      },
    },
    createInstance: { sandbox: { summary: 'A sandbox phone', value: { name: 'Support', provider: 'sandbox' } } },
    updateInstance: {
      name: { summary: 'Another name', value: { name: 'Support desk' } },
      settings: { summary: 'One setting; omitted ones stay unchanged', value: { settings: { pairing: false } } },
    },
    connectInstance: { qr: { summary: 'With a QR code, if one is needed', value: {} } },
    receiveInSandbox: {
      text: { summary: 'A text', value: { from: to, type: 'text', text: 'Hello back' } },
      button: { summary: 'A button that was chosen', value: { from: to, buttonId: 'yes', text: 'Yes' } },
    },
    lookupNumbers: { two: { summary: 'Two numbers', value: { instanceId, numbers: [to, '+4915112340001'] } } },
    createContact: {
      plain: { summary: 'A name and a number', value: { name: 'Grace Hopper', phone: '+12025550123' } },
      whole: {
        summary: 'With labels, and values for templates',
        value: {
          name: 'Alan Turing',
          phone: '+442079460123',
          email: 'alan@example.com',
          tags: ['vip'],
          custom: { city: 'London' },
        },
      },
    },
    updateContact: { tags: { summary: 'Other labels; omitted fields stay unchanged', value: { tags: ['demo', 'vip'] } } },
    createContactGroup: { plain: { summary: 'A group', value: { name: 'Friends', description: 'Those who write back' } } },
    updateContactGroup: { name: { summary: 'Another name', value: { name: 'Good customers' } } },
    addGroupMembers: { one: { summary: 'One contact', value: { contactIds: [contactId] } } },
    removeGroupMembers: { one: { summary: 'One contact', value: { contactIds: [contactId] } } },
    deleteMe: { whole: { summary: 'With your password', value: { password: 'correct horse battery' } } },
    updateRetentionSettings: { year: { summary: 'A year', value: { messagesDays: 365 } } },
    bulkDeleteContacts: { one: { summary: 'One contact', value: { contactIds: [contactId] } } },
    createSuppression: { number: { summary: 'A number', value: { phone: '+4915112340021' } } },
    updateSuppressionSettings: {
      reply: { summary: 'A reply; omitted settings stay unchanged', value: { reply: 'You get no more messages from us.' } },
    },
    createTemplate: {
      text: {
        summary: 'A text with placeholders',
        value: { name: 'Reminder', type: 'text', body: 'Hello {{contact.firstName}}, see you on {{custom.day}}.' },
      },
    },
    importCloudTemplates: { account: { summary: 'Those of the account of an instance', value: { instanceId } } },
    updateTemplate: {
      cloud: {
        summary: 'The template that Meta approved',
        value: { cloud: { name: 'order_shipped', language: 'en', parameters: ['contact.firstName', 'custom.order'] } },
      },
      body: { summary: 'Another text', value: { body: 'Hello {{contact.firstName}}, order {{custom.order}} left.' } },
    },
    previewTemplate: { filled: { summary: 'For a contact, with values', value: { contactId, variables: { order: '4711' } } } },
    createCampaign: {
      direct: {
        summary: 'A text to a group and a number',
        value: {
          instanceId,
          name: 'News',
          type: 'text',
          text: 'News!',
          groupIds: [groupId],
          recipients: [{ to: '+4915112345679' }],
        },
      },
      template: {
        summary: 'A template, with values for each recipient, later',
        value: {
          instanceId,
          name: 'Orders',
          templateId,
          variables: { order: 'yours' },
          contactIds: [contactId],
          scheduledAt: halfAYearAhead(),
        },
      },
    },
    updateCampaign: {
      pace: {
        summary: 'Thirty messages a minute, and none at night',
        value: { ratePerMinute: 30, quietHours: { from: '21:00', to: '08:00', timeZone: 'Europe/Rome' } },
      },
    },
    createWebhook: {
      messages: {
        summary: 'Message statuses',
        value: {
          url: 'https://example.com/hook',
          events: ['message.sent', 'message.delivered', 'message.read', 'message.failed'],
        },
      },
    },
    updateWebhook: { events: { summary: 'Other events', value: { events: ['message.received'] } } },
  }
}

/** A request for each message type that is shown. `message` is what messages of all types have. */
function ofTypes(message: object, types: Readonly<Record<string, TypeExample>>): Record<string, Example> {
  const shown = Object.entries(types).flatMap(([type, { summary, fields }]) =>
    summary === undefined ? [] : [[type, { summary, value: { ...message, type, ...fields } }]],
  )
  return Object.fromEntries(shown)
}

/** A time that stays in the future, and within a year, while the process runs: the start of the month six months ahead. */
function halfAYearAhead(): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 6)).toISOString()
}

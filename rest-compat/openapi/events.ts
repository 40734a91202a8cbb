// Describes outgoing events: webhook requests, and the event stream.
import { z } from 'zod'
import { errorResponses, errorsOf } from './errors.ts'
import { type Components, headerRefs, headersTaken, type Operation, parametersIn } from './operation.ts'

const head = {
  id: z.uuid().describe("The event's id, the same in webhooks, streams and lists, and on every attempt."),
  test: z.literal(true).optional().describe('Present if this is a test event.'),
  instanceId: z.uuid().describe('The instance of the event.'),
}
const message = {
  ...head,
  messageId: z.uuid().describe('The message of the event.'),
  providerMessageId: z.string().nullable().describe("The network's id of the message; null if the network gave none."),
  to: z.string().describe("The recipient's number, E.164."),
}
const timestamp = z.iso.datetime().describe('When the event happened.')

const ofInstance = (event: string, status: z.ZodType) =>
  z.object({ ...head, event: named(event), status: status.describe('The current connection status.'), timestamp })
const ofMessage = (event: string) =>
  z.object({
    ...message,
    event: named(event),
    status: z.literal(event.split('.')[1] as string).describe('The new status.'),
    timestamp,
  })

function named(event: string) {
  return z.literal(event).describe('The type of the event.')
}

interface EventTold {
  summary: string
  payload: z.ZodObject
}

/** The payload of each event, in webhooks and streams. */
export const events: Record<string, EventTold> = {
  'instance.connected': { summary: 'An instance connected', payload: ofInstance('instance.connected', z.literal('connected')) },
  'instance.disconnected': {
    summary: 'An instance lost its connection',
    payload: ofInstance('instance.disconnected', z.enum(['created', 'connecting', 'pairing', 'disconnected', 'logged_out'])),
  },
  'message.sent': { summary: 'The network accepted a message', payload: ofMessage('message.sent') },
  'message.delivered': { summary: "A message reached the recipient's phone", payload: ofMessage('message.delivered') },
  'message.read': { summary: 'The recipient read a message', payload: ofMessage('message.read') },
  'message.failed': {
    summary: 'A message failed',
    payload: ofMessage('message.failed').extend({
      error: z.string().nullable().describe('The reason of the failure, as a code.'),
    }),
  },
  'message.received': {
    summary: 'A message was received',
    payload: ofMessage('message.received').extend({
      from: z.string().describe("The sender's number, E.164."),
      to: z.string().describe("The instance's number, E.164."),
      type: z.string().describe('The type of the message; `unknown` if it is none of the types that can be sent.'),
      body: z.string().describe('The text, caption, place, shared name or description; empty if there is none.'),
      status: z.literal('received').describe('Always `received`.'),
    }),
  },
}

/** `message.sent` → `MessageSent`. */
function typeName(event: string): string {
  return event
    .split('.')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

/** The only header that is not always present. */
const previousSignature = 'X-Service-Signature-Previous'

const signatureHeaders: [name: string, description: string, example: string][] = [
  ['X-Service-Event', 'The name of the event.', 'message.sent'],
  ['X-Service-Delivery', "The event's id, the same on every attempt.", '01980000-0000-7000-8000-00000000000a'],
  [
    'X-Service-Signature',
    "`sha256=` and the HMAC-SHA256 of the body's bytes in lowercase hex, with the whole `secret` as the key. Compare it in constant time.",
    `sha256=${'0'.repeat(64)}`,
  ],
  [
    previousSignature,
    'Sent for 24 hours after a rotation: the same signature, with the previous `secret` as the key.',
    `sha256=${'0'.repeat(64)}`,
  ],
  [
    'webhook-id',
    "The event's id, as Standard Webhooks defines it. Store the ids that you have processed, and ignore an event that comes again.",
    '01980000-0000-7000-8000-00000000000a',
  ],
  [
    'webhook-timestamp',
    'When this attempt was signed, in seconds since 1970. Reject requests that are older than five minutes.',
    '1769853600',
  ],
  [
    'webhook-signature',
    '`v1,` and the base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`; the key is the bytes that the `secret` encodes after `whsec_`. For 24 hours after a rotation the header lists two signatures, separated by a space.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ],
]

/** Returns the `webhooks` of the document, and adds the payloads to the components. */
export function webhooksOf({ schemas }: Components): Record<string, unknown> {
  const parameters = signatureHeaders.map(([name, description, example]) => ({
    name,
    in: 'header',
    required: name !== previousSignature,
    description,
    schema: { type: 'string' },
    example,
  }))
  const entries = Object.entries(events).map(([event, { summary, payload }]) => {
    const $ref = schemas.named(`${typeName(event)}Event`, summary, payload)
    const operation = {
      operationId: `on${typeName(event)}`,
      summary: event,
      description: `${summary}. Sent to the webhook endpoints that subscribe to this event, in up to five attempts. Answer quickly, and process the event afterwards.`,
      tags: ['Webhooks'],
      parameters,
      requestBody: { required: true, content: { 'application/json': { schema: { $ref } } } },
      responses: {
        '2XX': { description: 'Received. Any other status, and no answer within 15 s, leads to another attempt.' },
        '410': { description: 'Gone: the gateway stops deliveries to this endpoint.' },
      },
      security: [],
    }
    return [event, { post: operation }]
  })
  return Object.fromEntries(entries)
}

/** Describes `GET /events/stream`. `query` is the schema of its query parameters. */
export function streamOf(components: Components, query: z.ZodObject): Operation {
  const route = { method: 'GET', path: '/events/stream', scope: 'workspace', query } as const
  const codes = errorsOf(components.rules, route, [
    'NOT_FOUND',
    // Limit of concurrent streams.
    'API_RATE_LIMIT_EXCEEDED',
  ])
  return {
    operationId: 'streamEvents',
    summary: 'Follow events as they happen',
    description:
      'Server-sent events: `event:` is the name of the event, `id:` its cursor, `data:` the same object that webhooks receive. A client that reconnects with `Last-Event-ID` first receives the events that it missed, in order.',
    parameters: [
      ...parametersIn('query', components.schemas, query),
      {
        name: 'Last-Event-ID',
        in: 'header',
        description: 'The cursor of the last event that you received. It overrides `after`.',
        schema: { type: 'string' },
      },
      ...headersTaken(components.rules, route),
    ],
    responses: {
      200: {
        description: 'The stream. It stays open until the client or the gateway closes it.',
        headers: headerRefs(components.rules.headers),
        content: {
          'text/event-stream': {
            schema: { type: 'string', description: 'Server-sent events.' },
            example:
              'event: message.sent\nid: 0kV9zQ3mTnC1bWf7xR2hLw\ndata: {"id":"…","event":"message.sent","instanceId":"…","messageId":"…"}\n\n',
          },
        },
      },
      ...errorResponses(codes, components),
    },
    security: components.rules.security,
  }
}

// Describes outgoing events: webhook requests, and the event stream.
import { z } from 'zod'
import { errorResponses, errorsOf } from './errors.ts'
import { type Components, headersTaken, type Operation, parametersIn } from './operation.ts'
import { headerRefs } from './surface.ts'

/** A type of event, as the domain that emits it defines it. */
export interface EventType {
  type: string
  summary: string
  /** The payload without the fields that all events have. */
  payload: z.ZodObject
}

const head = {
  id: z.uuid().describe("The event's id, the same in webhooks, streams and lists, and on every attempt."),
  test: z.literal(true).optional().describe('Present if this is a test event.'),
}

/** The schema of the whole payload. `event` stands before `status` and `timestamp` after it; without a status, both stand at the end. */
function payloadOf({ type, payload }: EventType): z.ZodObject {
  const { status, ...rest } = payload.shape
  const fields = Object.entries(rest)
  const at = status ? Object.keys(payload.shape).indexOf('status') : fields.length
  return z.object({
    ...head,
    ...Object.fromEntries(fields.slice(0, at)),
    event: z.literal(type).describe('The type of the event.'),
    ...(status && { status }),
    timestamp: z.iso.datetime().describe('When the event happened.'),
    ...Object.fromEntries(fields.slice(at)),
  })
}

/** `message.sent` → `MessageSent`. */
function typeName(type: string): string {
  return type
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
export function webhooksOf({ schemas }: Components, events: readonly EventType[]): Record<string, unknown> {
  const parameters = signatureHeaders.map(([name, description, example]) => ({
    name,
    in: 'header',
    required: name !== previousSignature,
    description,
    schema: { type: 'string' },
    example,
  }))
  const entries = events.map((event) => {
    const { type, summary } = event
    const $ref = schemas.named(`${typeName(type)}Event`, summary, payloadOf(event))
    const operation = {
      operationId: `on${typeName(type)}`,
      summary: type,
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
    return [type, { post: operation }]
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

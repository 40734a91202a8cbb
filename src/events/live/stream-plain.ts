// `GET /api/v1/events/stream`: the workspace's events for a plain EventSource, each exactly the object that webhooks receive.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import { withoutEmpty } from '../../core/http/query.ts'
import { once, parse } from '../../core/validation.ts'
import { markedOf } from '../log/cursor.ts'
import { eventTypes, typeList } from '../log/event-type.ts'
import type { EventFilter } from '../log/log.ts'
import { cursorOf } from '../log/place.ts'
import type { LogView } from './fanout.ts'
import { filterArguments, filterOf } from './filter.ts'
import { namedFrame, plainFarewell, unnamedFrame } from './frames.ts'
import { beginning, streamLog } from './open-stream.ts'
import type { Streaming } from './streaming.ts'

function listOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.flatMap(listOf)
  return typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value
}

/** Query parameters. `types` is comma-separated or repeated. `named=false` omits event names, so that `onmessage` receives everything. */
export const plainStreamQuery = z.object({
  ...filterArguments.shape,
  types: z
    .preprocess(listOf, typeList.optional())
    .describe(
      'Only these event types, comma-separated or repeated. `message.queued`, `message.cancelled`, `campaign.changed`, `contact.changed` and `message.updated` are sent only if they are named here.',
    ),
  after: once.optional().describe('The cursor of the last event that you received; without it the stream starts now.'),
  named: z
    .enum(['true', 'false'])
    .default('true')
    .transform((value) => value === 'true')
    .describe('`false` omits the names of events, so that `onmessage` receives all of them.'),
})

/**
 * Answers with the stream of events that the query string asks for. `Last-Event-ID` overrides `after`.
 * @throws every refusal, before the stream begins.
 */
export async function servePlain(streaming: Streaming, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { app, openContext } = streaming
  const { principal } = await openContext(request, reply)
  const { after, named, ...given } = parse(plainStreamQuery, withoutEmpty(request.query), 'query')
  const asked = await filterOf(app, principal.workspaceId, given)
  const filter = { ...asked, types: asked.types ?? eventTypes() }
  const start = await beginning(app, principal.workspaceId, after, request.headers['last-event-id'])
  const frame = named ? namedFrame : unnamedFrame
  await streamLog(streaming, reply, viewOf(app, principal.workspaceId, filter), start, {
    owner: principal,
    frame,
    farewell: plainFarewell,
  })
  return reply
}

function viewOf(app: App, workspaceId: string, filter: EventFilter): LogView {
  return {
    key: JSON.stringify(['plain', workspaceId, filter]),
    workspaceId,
    filter,
    render: async (events) =>
      events.map((event) => ({ ...markedOf(event), cursor: cursorOf(app, event), name: event.type, body: event.payload })),
  }
}

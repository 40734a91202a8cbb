// Opens one stream on a reply: reserves capacity, creates the writer, sends the start and follows the source.
import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { App } from '../../core/app.ts'
import type { Marked } from '../log/cursor.ts'
import { cursorNow, endOf, resumeAfter, type Start } from '../log/place.ts'
import type { BoundedWriter, Ending, StreamOwner } from './bounded-writer.ts'
import type { Frame } from './entry.ts'
import type { Followed, Hub, LogView } from './fanout.ts'
import { heartbeat, hello } from './frames.ts'
import type { StateView } from './state-topics.ts'
import type { Streaming } from './streaming.ts'

export interface StreamOptions {
  owner: StreamOwner
  frame: Frame
  farewell: (ending: Ending) => string
}

/**
 * The start of a workspace's stream: after the last event that the client saw, or at the present. `Last-Event-ID` overrides `after`.
 * @throws VALIDATION_ERROR when the cursor is invalid; the message names `after` or `Last-Event-ID`.
 */
export async function beginning(
  app: App,
  workspaceId: string,
  after: string | null | undefined,
  lastEventId?: string | string[],
): Promise<Start> {
  const comesBack = typeof lastEventId === 'string' && lastEventId !== ''
  const cursor = comesBack ? lastEventId : after
  if (!cursor) return await endOf(app, workspaceId)
  const sent = await resumeAfter(app, workspaceId, cursor, comesBack ? 'Last-Event-ID' : 'after')
  return { after: sent.seq, sent, cursor }
}

/**
 * @throws API_RATE_LIMIT_EXCEEDED when the caller has too many streams, SERVICE_UNAVAILABLE when the hub is closing; both before any
 * write.
 */
export async function streamLog(
  { app, hub }: Pick<Streaming, 'app' | 'hub'>,
  reply: FastifyReply,
  view: LogView,
  { after, sent, cursor }: Start,
  options: StreamOptions,
): Promise<void> {
  const follow = (writer: BoundedWriter) => hub.followLog(view, { writer, frame: options.frame, cursor: after, sent })
  const heartbeatOf = (reached: Marked | undefined) => heartbeat(reached ? cursorNow(app, view.workspaceId, reached) : null)
  await stream(hub, reply, options, { greeting: hello(cursor), heartbeatOf, follow })
}

/** @throws as {@link streamLog}. */
export async function streamState(
  hub: Hub,
  reply: FastifyReply,
  view: StateView,
  complete: string,
  options: StreamOptions,
): Promise<void> {
  const ended = (writer: BoundedWriter) => () => writer.end(complete)
  const follow = (writer: BoundedWriter) => hub.followState(view, { writer, frame: options.frame, ended: ended(writer) })
  await stream(hub, reply, options, { greeting: hello(), heartbeatOf: () => heartbeat(), follow })
}

interface Opening {
  greeting: string
  heartbeatOf: (reached: Marked | undefined) => string
  follow: (writer: BoundedWriter) => Followed | Promise<Followed>
}

async function stream(
  hub: Hub,
  reply: FastifyReply,
  { owner, farewell }: StreamOptions,
  { greeting, heartbeatOf, follow }: Opening,
): Promise<void> {
  let followed: Followed | undefined
  const releaseSlot = hub.takeSlot(owner, 'stream')
  const writer = hub.makeWriter({
    owner,
    heartbeat: () => heartbeatOf(followed?.reached()),
    farewell,
    closed() {
      followed?.stop()
      releaseSlot()
    },
  })
  reply.hijack()
  writer.attach(reply.raw, reply.getHeaders() as OutgoingHttpHeaders, greeting)
  try {
    followed = await follow(writer)
    if (writer.closed) followed.stop()
  } catch (error) {
    // The response has begun. Destroying it makes the client reconnect.
    reply.raw.destroy()
    throw error
  }
}

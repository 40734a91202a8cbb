// Opens one stream on a reply: a place, an outlet, a beginning, and what it follows.
import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { App } from '../core/app.ts'
import type { Frame } from './entry.ts'
import type { Followed, Hub, LogView, StateView } from './fanout.ts'
import { beat, hello } from './frames.ts'
import { lastNumber, resumeAfter } from './log.ts'
import type { Ending, Holder, Outlet } from './outlet.ts'

export interface StreamOptions {
  holder: Holder
  frame: Frame
  farewell: (ending: Ending) => string
}

/** The number to begin after: what the reader saw last, or now. @throws VALIDATION_ERROR naming `after` or `Last-Event-ID` */
export async function beginning(app: App, after: string | null | undefined, lastEventId?: string | string[]): Promise<bigint> {
  if (typeof lastEventId === 'string' && lastEventId !== '') return await resumeAfter(app, lastEventId, 'Last-Event-ID')
  return after ? await resumeAfter(app, after, 'after') : await lastNumber(app.pool)
}

/** @throws API_RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE, as long as nothing was written. */
export async function streamLog(
  hub: Hub,
  reply: FastifyReply,
  view: LogView,
  start: bigint,
  options: StreamOptions,
): Promise<void> {
  await stream(hub, reply, options, hello(start), (outlet) =>
    hub.followLog(view, { outlet, frame: options.frame, cursor: start }),
  )
}

/** @throws as {@link streamLog} */
export async function streamState(
  hub: Hub,
  reply: FastifyReply,
  view: StateView,
  complete: string,
  options: StreamOptions,
): Promise<void> {
  const ended = (outlet: Outlet) => () => outlet.end(complete)
  await stream(hub, reply, options, hello(), (outlet) =>
    hub.followState(view, { outlet, frame: options.frame, ended: ended(outlet) }),
  )
}

async function stream(
  hub: Hub,
  reply: FastifyReply,
  { holder, farewell }: StreamOptions,
  greeting: string,
  follow: (outlet: Outlet) => Followed | Promise<Followed>,
): Promise<void> {
  let followed: Followed | undefined
  const leavePlace = hub.takePlace(holder, 'stream')
  const outlet = hub.makeOutlet({
    holder,
    beat: () => beat(followed?.reached()),
    farewell,
    closed() {
      followed?.stop()
      leavePlace()
    },
  })
  reply.hijack()
  outlet.attach(reply.raw, reply.getHeaders() as OutgoingHttpHeaders, greeting)
  try {
    followed = await follow(outlet)
    if (outlet.closed) followed.stop()
  } catch (error) {
    // The answer has begun: all that is left is to end it, so that the reader comes back.
    reply.raw.destroy()
    throw error
  }
}

// Formats server-sent events: by the protocol of graphql-sse, and for a plain EventSource. Texts for one client are printed by
// graphql-sse. Frames of the fan-out are not: their body is serialized once for all subscribers, who get the same bytes.
import { randomInt } from 'node:crypto'
import { type ExecutionResult, print } from 'graphql-sse'
import { failure } from '../../core/errors.ts'
import type { Ending } from './bounded-writer.ts'
import type { Frame } from './entry.ts'

/** GraphQL, one subscription per connection. */
export const distinctFrame: Frame = ({ cursor, body }) => `event: next\n${idLine(cursor)}data: ${body}\n\n`

/** GraphQL, many subscriptions on one connection. */
export function singleFrame(operationId: string): Frame {
  const id = JSON.stringify(operationId)
  return ({ cursor, body }) => `event: next\n${idLine(cursor)}data: {"id":${id},"payload":${body}}\n\n`
}

/** Plain EventSource with event names: `addEventListener('message.sent', …)`. */
export const namedFrame: Frame = ({ name, cursor, body }) => `event: ${name}\n${idLine(cursor)}data: ${body}\n\n`

/** Plain EventSource without event names, for `onmessage`. */
export const unnamedFrame: Frame = ({ cursor, body }) => `${idLine(cursor)}data: ${body}\n\n`

function idLine(cursor: string | null): string {
  return cursor === null ? '' : `id: ${cursor}\n`
}

/** A result and the end of its operation. */
export function distinctResult(data: ExecutionResult): string {
  return print({ event: 'next', data }) + distinctComplete
}

export const distinctComplete = print({ event: 'complete', data: null })

export function singleResult(id: string, payload: ExecutionResult): string {
  return print<true, 'next'>({ event: 'next', data: { id, payload } }) + singleComplete(id)
}

export function singleComplete(id: string): string {
  return print<true, 'complete'>({ event: 'complete', data: { id } })
}

/**
 * The first text of a stream: the reconnection delay and a cursor. With the cursor, even a client that has received no event resumes
 * without a gap.
 */
export function hello(cursor: string | null = null): string {
  return `${retryLine()}${idLine(cursor)}\n`
}

/** The heartbeat. On a stream of the log, it carries the cursor reached, so that less is read again after a reconnection. */
export function heartbeat(cursor: string | null = null): string {
  return `: alive\n${idLine(cursor)}\n`
}

/** A random reconnection delay of 1 to 3 s (jitter), so that clients do not all reconnect at once after a restart. */
export function retryLine(): string {
  return `retry: ${randomInt(1_000, 3_000)}\n`
}

/** The result that a subscription gets when its credential was revoked. */
export const revoked: ExecutionResult = { errors: [failure('UNAUTHORIZED')] }

export function distinctFarewell(ending: Ending): string {
  return ending === 'revoked' ? distinctResult(revoked) : `${retryLine()}\n${distinctComplete}`
}

export function plainFarewell(ending: Ending): string {
  if (ending === 'closing') return `${retryLine()}\n`
  return `event: end\ndata: ${JSON.stringify({ error: { code: 'UNAUTHORIZED', message: failure('UNAUTHORIZED').message } })}\n\n`
}

// How each door writes: server-sent events as graphql-sse's protocol has them, and as a plain EventSource likes them.
import { randomInt } from 'node:crypto'
import type { ExecutionResult } from 'graphql'
import { failure } from '../../core/errors.ts'
import type { Frame } from '../log/entry.ts'
import type { Ending } from './bounded-writer.ts'

/** GraphQL, one subscription a connection. */
export const distinctFrame: Frame = ({ cursor, body }) => `event: next\n${idLine(cursor)}data: ${body}\n\n`

/** GraphQL, many subscriptions on one connection. */
export function singleFrame(operationId: string): Frame {
  const id = JSON.stringify(operationId)
  return ({ cursor, body }) => `event: next\n${idLine(cursor)}data: {"id":${id},"payload":${body}}\n\n`
}

/** A plain EventSource: `addEventListener('message.sent', …)`. */
export const namedFrame: Frame = ({ name, cursor, body }) => `event: ${name}\n${idLine(cursor)}data: ${body}\n\n`

/** A plain EventSource that listens to `onmessage` only. */
export const unnamedFrame: Frame = ({ cursor, body }) => `${idLine(cursor)}data: ${body}\n\n`

function idLine(cursor: string | null): string {
  return cursor === null ? '' : `id: ${cursor}\n`
}

export function distinctResult(result: ExecutionResult): string {
  return `event: next\ndata: ${JSON.stringify(result)}\n\n${distinctComplete}`
}

// The empty data field is what makes a browser's EventSource tell of the event.
export const distinctComplete = 'event: complete\ndata:\n\n'

export function singleResult(operationId: string, payload: ExecutionResult): string {
  return `event: next\ndata: ${JSON.stringify({ id: operationId, payload })}\n\n${singleComplete(operationId)}`
}

export function singleComplete(operationId: string): string {
  return `event: complete\ndata: ${JSON.stringify({ id: operationId })}\n\n`
}

/**
 * The first words of a stream: when to come back after a loss, and with which cursor, so that even a reader who has seen no
 * event yet resumes without a gap.
 */
export function hello(cursor: string | null = null): string {
  return `${retryLine()}${idLine(cursor)}\n`
}

/** Says that the stream is alive; one of the log also how far it has come, so that less is read again after a loss. */
export function beat(cursor: string | null = null): string {
  return `: alive\n${idLine(cursor)}\n`
}

/** Readers come back spread over two seconds, so that a restart does not meet them all at once. */
export function retryLine(): string {
  return `retry: ${randomInt(1_000, 3_000)}\n`
}

/** What a subscription's reader is told when the key was revoked. */
export const revoked: ExecutionResult = { errors: [failure('UNAUTHORIZED')] }

export function distinctFarewell(ending: Ending): string {
  return ending === 'revoked' ? distinctResult(revoked) : `${retryLine()}\n${distinctComplete}`
}

export function plainFarewell(ending: Ending): string {
  if (ending === 'closing') return `${retryLine()}\n`
  return `event: end\ndata: ${JSON.stringify({ error: { code: 'UNAUTHORIZED', message: failure('UNAUTHORIZED').message } })}\n\n`
}

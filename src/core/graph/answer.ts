// Serializes large answers as JSON in pieces, so that they do not block the event loop and a slow reader does not make the
// process hold all of the text.
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { ExecutionResult } from 'graphql'

/** Smaller answers are serialized in one piece, which is faster. */
const largeBytes = 512 * 1024
/** Least size of a piece in UTF-16 units; a value is never split. */
const pieceUnits = 64 * 1024

const large = new WeakSet<object>()

/** Marks a result as large if `bytes` exceeds {@link largeBytes}. */
export function markLarge({ data }: ExecutionResult, bytes: number): void {
  if (data && bytes > largeBytes) large.add(data)
}

/** The JSON text of an answer that contains `data`: a string, or a stream of pieces if `data` is marked as large. */
export function answerText(answer: unknown, data: unknown): string | Readable {
  const isLarge = typeof data === 'object' && data !== null && large.has(data)
  return isLarge ? Readable.from(piecesOf(answer)) : JSON.stringify(answer)
}

async function* piecesOf(value: unknown): AsyncGenerator<string> {
  let piece = ''
  for (const part of partsOf(value)) {
    piece += part
    if (piece.length < pieceUnits) continue
    yield piece
    piece = ''
    await turn()
  }
  yield piece
}

/** Yields what `JSON.stringify` returns, for a value that it would not omit. */
function* partsOf(value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    let before = '['
    for (const item of value) {
      yield before
      yield* partsOf(item ?? null)
      before = ','
    }
    yield before === '[' ? '[]' : ']'
  } else if (isPlainObject(value)) {
    let before = '{'
    for (const name of Object.keys(value)) {
      if (value[name] === undefined) continue
      yield `${before}${JSON.stringify(name)}:`
      yield* partsOf(value[name])
      before = ','
    }
    yield before === '{' ? '{}' : '}'
  } else yield JSON.stringify(value)
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !('toJSON' in value)
}

// Large answers as JSON text: in pieces, so that making one holds up nobody and a slow reader does not make us keep all of it.
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { ExecutionResult } from 'graphql'

/** A smaller one is quicker made at once. */
const largeBytes = 512 * 1024
/** Of one piece, in UTF-16 units; a value is never cut. */
const pieceUnits = 64 * 1024

const large = new WeakSet<object>()

/** Remembers that a result takes so many bytes, if that is many. */
export function markLarge({ data }: ExecutionResult, bytes: number): void {
  if (data && bytes > largeBytes) large.add(data)
}

/** The JSON text of an answer that was made of `data`: whole, or where that is large, in pieces. */
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

/** As `JSON.stringify`, of what it would not leave out. */
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

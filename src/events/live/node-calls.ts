// Calls from this process to another one, by notifications of the database: processes need no addresses of each other.
import { deserialize, serialize } from 'node:v8'
import type { App } from '../../core/app.ts'
import { type ErrorCode, failure, failureFor, type Issue, issuesOf, retryAfterOf } from '../../core/errors.ts'
import { failureOf } from '../../core/http/error-answer.ts'
import { newId } from '../../core/id.ts'
import { notifyNode } from './changes.sql.ts'

type Note =
  | { kind: 'call'; id: string; from: string; request: unknown }
  /** The call is being carried out. */
  | { kind: 'busy'; id: string }
  | { kind: 'answer'; id: string; value: unknown }
  | { kind: 'refusal'; id: string; refusal: Refusal }

interface Refusal {
  code: ErrorCode
  message: string
  issues: Issue[] | undefined
  seconds: number | undefined
}

interface Waiting {
  resolve: (value: unknown) => void
  reject: (error: Error) => void
  timer: NodeJS.Timeout
}

export interface NodeCalls {
  /**
   * Asks the process with that id. @throws the failure of the call; SERVICE_UNAVAILABLE when nothing was heard of the process for 5 s. The
   * call may then have been carried out.
   */
  call: (node: string, request: unknown) => Promise<unknown>
  /** Takes a notification that another process sent to this one. */
  receive: (payload: string) => void
}

const silenceMs = 5_000
const busyMs = 1_500
/** PostgreSQL takes payloads of less than 8,000 bytes, so longer notes are sent in pieces. */
const pieceLength = 7_900

/** `carryOut` answers the calls of others. Its value must be serializable. Notes are encrypted, because operations may hold secrets. */
export function createNodeCalls(app: App, carryOut: (request: unknown) => Promise<unknown>): NodeCalls {
  const waiting = new Map<string, Waiting>()
  const arriving = new Map<string, { pieces: string[]; missing: number }>()

  async function send(node: string, note: Note): Promise<void> {
    const text = app.sealer.seal(serialize(note)).toString('base64')
    const count = Math.ceil(text.length / pieceLength)
    const name = newId()
    const pieces = Array.from({ length: count }, (_, i) => text.slice(i * pieceLength, (i + 1) * pieceLength))
    await notifyNode(
      app.pool,
      node,
      pieces.map((piece, i) => `${name} ${i} ${count} ${piece}`),
    )
  }

  async function call(node: string, request: unknown): Promise<unknown> {
    const id = newId()
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    promise.catch(() => {})
    const timer = setTimeout(() => reject(failure('SERVICE_UNAVAILABLE')), silenceMs)
    waiting.set(id, { resolve, reject, timer })
    try {
      await send(node, { kind: 'call', id, from: app.node, request })
      return await promise
    } finally {
      clearTimeout(timer)
      waiting.delete(id)
    }
  }

  async function answer(id: string, from: string, request: unknown): Promise<void> {
    const say = (note: Note) =>
      send(from, note).catch((error: Error) => app.log.warn({ err: error.message }, 'another process was not answered'))
    const timer = setInterval(() => void say({ kind: 'busy', id }), busyMs)
    try {
      const value = await carryOut(request)
      await say({ kind: 'answer', id, value })
    } catch (error) {
      await say({ kind: 'refusal', id, refusal: refusalOf(app, error as Error, id) })
    } finally {
      clearInterval(timer)
    }
  }

  function take(note: Note): void {
    if (note.kind === 'call') return void answer(note.id, note.from, note.request)
    const asked = waiting.get(note.id)
    if (note.kind === 'busy') asked?.timer.refresh()
    else if (note.kind === 'answer') asked?.resolve(note.value)
    else asked?.reject(errorOf(note.refusal))
  }

  return {
    call,
    receive(payload) {
      const [name = '', index, count, piece = ''] = payload.split(' ')
      const note = arriving.get(name) ?? { pieces: [], missing: Number(count) }
      note.pieces[Number(index)] = piece
      note.missing--
      if (note.missing > 0) {
        if (!arriving.has(name)) setTimeout(() => arriving.delete(name), silenceMs).unref()
        arriving.set(name, note)
        return
      }
      arriving.delete(name)
      const opened = app.sealer.tryOpen(Buffer.from(note.pieces.join(''), 'base64'))
      if (opened) take(deserialize(opened) as Note)
      else app.log.warn('another process uses another SECRET_KEY')
    },
  }
}

function refusalOf(app: App, error: Error, id: string): Refusal {
  return { ...failureOf(app, error, { id }), issues: issuesOf(error), seconds: retryAfterOf(error) }
}

function errorOf({ code, message, issues, seconds }: Refusal): Error {
  return seconds === undefined ? failure(code, message, issues) : failureFor(seconds, code, message)
}

// The live view of one workspace: follows the event log from a cursor while the window is visible, and resumes without a gap.
import { type EventRowFragment, EventsDocument } from '../generated/graph/graphql.ts'
import type { Team } from '../graph/request.ts'
import { ApiError } from '../session/auth-call.ts'
import { renew } from '../session/session.ts'
import { endingOfCode } from './ending.ts'
import { collectFrames } from './frames.ts'
import { readSince, readStream } from './read.ts'
import { retryAfterMs } from './retry.ts'
import { openSlots } from './stream-slots.ts'

export type LiveState =
  | { kind: 'live' | 'reconnecting' }
  /** Events that happened while the window was away, so far. */
  | { kind: 'catching'; events: number }

export interface Live {
  state: () => LiveState
  onState: (listener: () => void) => () => void
  /** Called once a frame with the events of it, in their order. */
  onFrame: (listener: (events: EventRowFragment[]) => void) => () => void
  /** Called when too much happened to follow it event by event: pages read again what they show. */
  onReset: (listener: () => void) => () => void
  stop: () => void
}

/** More events than this are not read one by one. */
const mostBehind = 2_000
const pollMs = 2_000
/** After this time without another event from before the connection, all of them have arrived. */
const caughtUpMs = 500

interface Start {
  team: Team
  cursor: string | null
  /** Returns the present end of the log. @throws ApiError */
  readCursor: () => Promise<string | null>
  /** Called when the reader is no longer in the team. Nothing is followed from then on. */
  removed: (error: ApiError) => void
}

export function follow({ team, cursor, readCursor, removed }: Start): Live {
  const [frames, states, resets] = [listeners<EventRowFragment[]>(), listeners<void>(), listeners<void>()]
  const buffer = collectFrames((events) => frames.call(events))
  const stopping = new AbortController()
  let state: LiveState = { kind: 'live' }
  let wake = () => {}
  let stream = new AbortController()
  const slots = openSlots(() => {
    if (!slots.free()) stream.abort()
  })

  function turn(next: LiveState): void {
    if (state.kind === next.kind && next.kind !== 'catching') return
    state = next
    states.call()
  }

  /** Ends the pause between two attempts, and closes the stream of a window that nobody sees. */
  function look(): void {
    if (document.visibilityState === 'hidden') stream.abort()
    wake()
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async function reset(): Promise<void> {
    cursor = await readCursor()
    resets.call()
  }

  /** One stream, until it ends. Returns whether it opened. */
  async function streamOnce(): Promise<boolean> {
    stream = new AbortController()
    slots.take()
    let [since, behind] = [0, 0]
    let beginning = cursor === null
    const seen = new Set<string>()
    let caughtUp: ReturnType<typeof setTimeout> | undefined
    const ending = await readStream({
      team,
      document: EventsDocument,
      variables: { after: cursor },
      signal: stream.signal,
      opened(at) {
        since = at
        turn({ kind: 'live' })
        // An empty log has no cursor, so what happened before the stream began is read apart.
        if (beginning) {
          readBeginning(seen).then(
            () => (beginning = false),
            () => stream.abort(),
          )
        }
      },
      received({ events: event }) {
        cursor = event.cursor
        if (seen.delete(event.cursor)) return
        if (beginning) seen.add(event.cursor)
        buffer.add(event)
        clearTimeout(caughtUp)
        if (Date.parse(event.createdAt) < since) {
          turn({ kind: 'catching', events: ++behind })
          caughtUp = setTimeout(() => turn({ kind: 'live' }), caughtUpMs)
        } else turn({ kind: 'live' })
        if (behind > mostBehind) stream.abort()
      },
    })
    clearTimeout(caughtUp)
    slots.release()
    buffer.flush()
    if (ending === 'refused' || behind > mostBehind) await reset()
    if (ending === 'unauthorized' && !(await renew())) stop()
    if (since > 0 && document.visibilityState === 'visible' && !stream.signal.aborted) turn({ kind: 'reconnecting' })
    return since > 0
  }

  /** Reads the events of a log that was empty. `seen` has those that the stream brought, and then those that it may bring again. */
  async function readBeginning(seen: Set<string>): Promise<void> {
    const { events, more } = await readSince(team, null)
    for (const event of events) {
      if (seen.delete(event.cursor)) continue
      seen.add(event.cursor)
      buffer.add(event)
    }
    cursor ??= events.at(-1)?.cursor ?? null
    if (more) await reset()
  }

  /** Asks for what happened since, in a window that gets no stream. */
  async function pollOnce(): Promise<true> {
    try {
      for (let [more, read] = [true, 0]; more; read += 100) {
        if (read > mostBehind) {
          await reset()
          return true
        }
        const page = await readSince(team, cursor)
        for (const event of page.events) buffer.add(event)
        cursor = page.events.at(-1)?.cursor ?? cursor
        more = page.more
      }
    } catch (error) {
      // The log does not have the cursor any more.
      if (!(error instanceof ApiError) || endingOfCode(error.code) !== 'refused') throw error
      await reset()
    }
    turn({ kind: 'live' })
    return true
  }

  /** A refusal of the API is tried again; every other error is a defect of this page. */
  async function tryOnce(follow: () => Promise<boolean>): Promise<boolean> {
    const worked = await follow().catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'TEAM_NOT_FOUND') {
        stop()
        removed(error)
      }
      return false
    })
    if (!worked) turn({ kind: 'reconnecting' })
    return worked
  }

  async function run(): Promise<void> {
    let failures = 0
    // Lets other windows say which streams they hold.
    await pause(60)
    while (!stopping.signal.aborted) {
      if (document.visibilityState === 'hidden') {
        await pause(3_600_000)
        continue
      }
      const polls = !slots.free()
      const worked = await tryOnce(polls ? pollOnce : streamOnce)
      failures = worked ? 0 : failures + 1
      if (document.visibilityState !== 'visible' || stopping.signal.aborted) continue
      await pause(polls && worked ? pollMs : retryAfterMs(failures))
    }
  }

  function stop(): void {
    stopping.abort()
    stream.abort()
    slots.close()
    document.removeEventListener('visibilitychange', look)
    window.removeEventListener('online', look)
    window.removeEventListener('pagehide', leave)
    wake()
  }

  /** A page that the browser keeps for its back button must not keep its stream. */
  function leave(): void {
    stream.abort()
    slots.release()
  }

  document.addEventListener('visibilitychange', look)
  window.addEventListener('online', look)
  window.addEventListener('pagehide', leave)
  void run()
  return { state: () => state, onState: states.add, onFrame: frames.add, onReset: resets.add, stop }
}

function listeners<Value>() {
  const set = new Set<(value: Value) => void>()
  return {
    add(listener: (value: Value) => void) {
      set.add(listener)
      return () => void set.delete(listener)
    },
    call(value: Value) {
      for (const listener of set) listener(value)
    },
  }
}

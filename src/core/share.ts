// What the operations of one caller hold in memory together: one that finds no room waits for the caller's others, and for nobody else's.
import { fail } from './errors.ts'

/** The most that the operations of one caller may weigh that run at once; one that weighs more runs alone. */
const shareBytes = 32 * 1024 * 1024
/** As little passes by. */
const lightBytes = 512 * 1024
const mostWaiting = 100

interface Waiting {
  bytes: number
  begin: () => void
}

interface Line {
  heldBytes: number
  waiting: Waiting[]
}

const lines = new Map<string, Line>()

/** The way of an answer to its reader: `close` comes once it was sent, or cut. */
export interface Sending {
  destroyed: boolean
  closed: boolean
  once: (event: 'close', listener: () => void) => unknown
}

/** Room that was given. */
export interface Room {
  /** Keeps as much of it as the answer takes, until that was sent, and frees the rest. */
  keepUntilSent: (answerBytes: number) => void
}

const noRoom: Room = { keepUntilSent() {} }

/**
 * Waits, in the order of arrival, until there is room for `bytes` beside what else runs for `caller`; it is kept until `response`
 * was sent, or cut. @throws API_RATE_LIMIT_EXCEEDED where too many wait already, or nobody waits for the answer any more.
 */
export async function takeRoom(caller: string, bytes: number, response?: Sending): Promise<Room> {
  if (bytes <= lightBytes) return noRoom
  const line = lines.get(caller) ?? { heldBytes: 0, waiting: [] }
  lines.set(caller, line)
  if (line.waiting.length >= mostWaiting)
    fail('API_RATE_LIMIT_EXCEEDED', 'Too many large requests wait already; send fewer at once')
  if (line.waiting.length > 0 || !fits(line, bytes)) {
    await new Promise<void>((begin) => {
      line.waiting.push({ bytes, begin })
    })
  } else line.heldBytes += bytes
  let heldBytes = bytes
  const keep = (fewer: number) => {
    if (fewer >= heldBytes) return
    line.heldBytes -= heldBytes - fewer
    heldBytes = fewer
    advance(caller, line)
  }
  if (response?.destroyed) {
    keep(0)
    fail('API_RATE_LIMIT_EXCEEDED', 'The connection was closed before its turn came')
  }
  return {
    keepUntilSent(answerBytes) {
      if (!response || response.closed) keep(0)
      else {
        keep(answerBytes)
        response.once('close', () => keep(0))
      }
    },
  }
}

function fits({ heldBytes }: Line, bytes: number): boolean {
  return heldBytes === 0 || heldBytes + bytes <= shareBytes
}

function advance(caller: string, line: Line): void {
  for (let next = line.waiting[0]; next && fits(line, next.bytes); next = line.waiting[0]) {
    line.waiting.shift()
    line.heldBytes += next.bytes
    next.begin()
  }
  if (line.heldBytes === 0 && line.waiting.length === 0) lines.delete(caller)
}

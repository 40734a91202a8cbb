// Backpressure for large request bodies: each is read only when its caller's share of the process's memory has room for it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { failFor } from './errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whom the request was identified as; null before that, and for anonymous requests. */
    caller: string | null
  }
}

/** Bodies up to this size are not counted. */
const smallBytes = 64 * 1024

export interface BodyMemoryOptions {
  /** Bytes of bodies that one caller's requests hold together. A single body is let in whatever its size. */
  perCaller: number
  /** Bytes of bodies that all requests hold together. */
  total: number
  /** How long a request waits for room. */
  waitMs: number
}

interface Claim {
  caller: string
  bytes: number
  admit: () => void
}

export interface BodyMemory {
  /** Waits for room; answers what gives it back. @throws API_RATE_LIMIT_EXCEEDED after `waitMs`. */
  take: (caller: string, bytes: number) => Promise<() => void>
}

/** Requests wait in order, but never behind another caller whose own share is used up. */
export function createBodyMemory({ perCaller, total, waitMs }: BodyMemoryOptions): BodyMemory {
  const held = new Map<string, number>()
  const waiting = new Set<Claim>()
  let all = 0

  function fits({ caller, bytes }: Claim): boolean {
    const own = held.get(caller) ?? 0
    return (own === 0 || own + bytes <= perCaller) && (all === 0 || all + bytes <= total)
  }

  function hold({ caller, bytes }: Claim, sign: 1 | -1): void {
    all += sign * bytes
    const own = (held.get(caller) ?? 0) + sign * bytes
    if (own === 0) held.delete(caller)
    else held.set(caller, own)
  }

  function admitWaiting(): void {
    for (const claim of waiting) {
      if (!fits(claim)) continue
      waiting.delete(claim)
      hold(claim, 1)
      claim.admit()
    }
  }

  return {
    async take(caller, bytes) {
      const admitted = Promise.withResolvers<void>()
      const claim: Claim = { caller, bytes, admit: admitted.resolve }
      waiting.add(claim)
      admitWaiting()
      if (waiting.has(claim)) {
        const timer = setTimeout(() => waiting.delete(claim) && admitted.reject(new Error('no room')), waitMs)
        await admitted.promise
          .catch(() => failFor(1, 'API_RATE_LIMIT_EXCEEDED', 'Too many large requests at once'))
          .finally(() => clearTimeout(timer))
      }
      return () => {
        hold(claim, -1)
        admitWaiting()
      }
    },
  }
}

/** Makes each large body of the scope's routes wait for room before its first byte is read; the room is held until the answer is sent. */
export function limitBodyMemory(scope: FastifyInstance, memory: BodyMemory): void {
  scope.addHook('preParsing', async (request: FastifyRequest, reply: FastifyReply, payload) => {
    const bytes = sizeOf(request)
    if (bytes <= smallBytes) return payload
    const giveBack = await memory.take(request.caller ?? request.ip, bytes)
    if (reply.raw.closed) giveBack()
    else reply.raw.once('close', giveBack)
    return payload
  })
}

/** What a body may take: its declared length, or the most that its route reads. */
function sizeOf({ headers, routeOptions: { bodyLimit } }: FastifyRequest): number {
  if (headers['transfer-encoding'] !== undefined) return bodyLimit
  return Math.min(Number(headers['content-length'] ?? 0), bodyLimit)
}

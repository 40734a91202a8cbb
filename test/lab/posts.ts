// Requests of a careful client: each is repeated under its Idempotency-Key until it is answered.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

/** A request without an answer in this time is repeated. */
const patienceMs = 10_000

export interface Made {
  id: string
  /** The address that the answer came from. */
  from: string
}

export interface Posts {
  /** Returns undefined if it was refused. */
  post: (route: string, body: object) => Promise<Made | undefined>
  /** Most attempts that one request took. */
  mostAttempts: number
  /** Answers that made a request be repeated, with their number. */
  repeated: Map<string, number>
  /** Answers that no client should see, with their number. */
  refused: Map<string, number>
}

/** `urls`: each attempt calls the next one. */
export function createPosts(urls: readonly string[], apiKey: string): Posts {
  const nextUrl = takeTurns(urls)
  const posts: Posts = {
    mostAttempts: 0,
    repeated: new Map(),
    refused: new Map(),
    async post(route, given) {
      const headers = { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': randomUUID() }
      const body = JSON.stringify(given)
      for (let attempts = 1; ; attempts++) {
        posts.mostAttempts = Math.max(posts.mostAttempts, attempts)
        const signal = AbortSignal.timeout(patienceMs)
        const from = nextUrl()
        const response = await fetch(`${from}/api/v1/${route}`, { method: 'POST', headers, body, signal }).catch(
          (error: Error) => error.name,
        )
        const answer = typeof response === 'string' ? undefined : await answerOf(response)
        if (answer?.id) return { id: answer.id, from }
        if (typeof response !== 'string' && response.status < 500 && response.status !== 409) {
          count(posts.refused, `${response.status} ${answer?.text}`)
          return undefined
        }
        count(posts.repeated, typeof response === 'string' ? response : `${response.status} ${answer?.code ?? ''}`)
        await pause(100)
      }
    },
  }
  return posts
}

interface Answer {
  text: string
  /** Undefined unless the request made something. */
  id: string | undefined
  code: string | undefined
}

/** Undefined if its body was lost. */
async function answerOf(response: Response): Promise<Answer | undefined> {
  const text = await response.text().catch(() => undefined)
  if (text === undefined) return undefined
  try {
    const { data, error } = JSON.parse(text) as { data?: { id: string }; error?: { code: string } }
    return { text, id: response.status === 201 ? data?.id : undefined, code: error?.code }
  } catch {
    // HAProxy answers with a page.
    return { text, id: undefined, code: undefined }
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

export function takeTurns<T>(all: readonly T[]): () => T {
  let turn = 0
  return () => all[turn++ % all.length] as T
}

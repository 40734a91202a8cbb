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
  /** Posts a form, or anything else as JSON. Returns undefined if it was refused. */
  post: (route: string, body: object | FormData) => Promise<Made | undefined>
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
      const headers = { 'x-api-key': apiKey, 'idempotency-key': randomUUID() }
      const json = { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(given) }
      const request = { method: 'POST', ...(given instanceof FormData ? { headers, body: given } : json) }
      for (let attempts = 1; ; attempts++) {
        posts.mostAttempts = Math.max(posts.mostAttempts, attempts)
        const from = nextUrl()
        const outcome = await attempt(`${from}/api/v1/${route}`, request)
        if ('id' in outcome) return { ...outcome, from }
        if ('refused' in outcome) return void count(posts.refused, outcome.refused)
        count(posts.repeated, outcome.repeat)
        await pause(100)
      }
    },
  }
  return posts
}

/** The id of what was made, or why the request was refused, or why it has to be repeated. */
type Outcome = { id: string } | { refused: string } | { repeat: string }

async function attempt(url: string, request: RequestInit): Promise<Outcome> {
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(patienceMs) })
    const text = await response.text()
    const { data, error } = parse(text)
    if (response.status === 201 && data) return { id: data.id }
    if (response.status >= 500 || response.status === 409) return { repeat: `${response.status} ${error?.code ?? ''}`.trim() }
    return { refused: `${response.status} ${text}` }
  } catch (error) {
    return { repeat: (error as Error).name }
  }
}

/** Empty for the page that HAProxy answers with. */
function parse(text: string): { data?: { id: string }; error?: { code: string } } {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

export function takeTurns<T>(all: readonly T[]): () => T {
  let turn = 0
  return () => all[turn++ % all.length] as T
}

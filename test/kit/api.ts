// A small HTTP client that returns the answer and validates REST answers against the OpenAPI documents.
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { expectDocumented } from './document.ts'

export interface Answer {
  status: number
  headers: Headers
  // A static type would not be checked; answers are validated against the OpenAPI documents below, and by each test.
  // biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what tests are about
  body: any
}

export interface Api {
  get: (path: string, headers?: Record<string, string>) => Promise<Answer>
  post: (path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>
  put: (path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>
  delete: (path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>
  graphql: (query: string, variables?: Record<string, unknown>, headers?: Record<string, string>) => Promise<Answer>
}

type Client = [
  gateway: { url: string },
  apiKey?: string,
  always?: Record<string, string>,
  /** Paths are relative to it; one that starts with a slash is used unchanged. The default is `/api/v1/`. */
  base?: '/api/v1/' | '/api/',
]

/**
 * A client of that gateway. It waits when the rate limit of its key or person is used up, as clients do: otherwise a test that asks again and
 * again would depend on how fast the machine is.
 */
export function api(...[gateway, apiKey, always, base]: Client): Api {
  return clientOf(gateway, apiKey, always, base, async (ask) => {
    for (;;) {
      const answer = await ask()
      const isTooFast = answer.headers.get('ratelimit-remaining') === '0' && answer.headers.get('retry-after') === '1'
      if (answer.status !== 429 || !isTooFast) return answer
      await pause(1_000)
    }
  })
}

/** A client that does not wait for the rate limit, for tests of the limit. */
export function hastyApi(...[gateway, apiKey, always, base]: Client): Api {
  return clientOf(gateway, apiKey, always, base, (ask) => ask())
}

/**
 * Lets the event loop notice which idle connections the gateway has closed. After seconds of computation in a test, the next request would
 * otherwise go out on one of them, and fail.
 */
async function noticeClosed(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn()
}

function clientOf(
  gateway: { url: string },
  apiKey: string | undefined,
  always: Record<string, string> = {},
  base: '/api/v1/' | '/api/' = '/api/v1/',
  paced: (ask: () => Promise<Answer>) => Promise<Answer>,
): Api {
  async function once(method: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    await noticeClosed()
    const response = await fetch(new URL(path.startsWith('/') ? path : base + path, gateway.url), {
      method,
      redirect: 'manual',
      headers: {
        ...(apiKey ? { 'x-api-key': apiKey } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...always,
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '')
    const answer = { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
    const { pathname } = new URL(response.url)
    // A trailing slash is the same route.
    expectDocumented({ method, path: pathname.replace(/(?<=.)\/$/, ''), ...answer })
    return answer
  }
  const request = (...asked: Parameters<typeof once>) => paced(() => once(...asked))
  return {
    get: (path, headers) => request('GET', path, undefined, headers),
    post: (path, body, headers) => request('POST', path, body, headers),
    put: (path, body, headers) => request('PUT', path, body, headers),
    delete: (path, body, headers) => request('DELETE', path, body, headers),
    graphql: (query, variables, headers) =>
      request('POST', '/graphql', { query, variables }, { accept: 'application/json', ...headers }),
  }
}

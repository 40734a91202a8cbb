// A small HTTP client that returns the answer and validates REST answers against the OpenAPI documents.
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

/** A client of that gateway. Paths are relative to `base`; one that starts with a slash is used unchanged. */
export function api(
  gateway: { url: string },
  apiKey?: string,
  always: Record<string, string> = {},
  base: '/api/v1/' | '/api/' = '/api/v1/',
): Api {
  async function request(method: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
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
  return {
    get: (path, headers) => request('GET', path, undefined, headers),
    post: (path, body, headers) => request('POST', path, body, headers),
    put: (path, body, headers) => request('PUT', path, body, headers),
    delete: (path, body, headers) => request('DELETE', path, body, headers),
    graphql: (query, variables, headers) =>
      request('POST', '/graphql', { query, variables }, { accept: 'application/json', ...headers }),
  }
}

// Calls the identity routes, which work with the session cookie and have an envelope of their own.
import { settings } from '../settings.ts'

/** A refusal by the gateway. */
export class ApiError extends Error {
  readonly status: number
  /** A code of the error table of the gateway; `OFFLINE` if it did not answer. */
  readonly code: string
  /** Each field's own words, by its path. */
  readonly issues: Issue[]
  constructor(status: number, code: string, message: string, issues: Issue[] = []) {
    super(message)
    this.status = status
    this.code = code
    this.issues = issues
  }
}

export interface Issue {
  path: string
  message: string
}

interface Envelope<Data> {
  data?: Data
  error?: { code: string; message: string }
}

/** Longer than a request may wait for its turn in the gateway (30 s) and for the database (10 s). */
const longestMs = 60_000

/** Calls `send` with a signal that aborts the request if no answer has begun within a minute. */
export async function inTime(send: (signal: AbortSignal) => Promise<Response>): Promise<Response> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), longestMs)
  try {
    return await send(late.signal)
  } finally {
    clearTimeout(timer)
  }
}

async function call<Data>(method: string, path: string, body: object | undefined, token?: string | null): Promise<Data> {
  const headers = { ...(body && { 'content-type': 'application/json' }), ...(token && { authorization: `Bearer ${token}` }) }
  let response: Response
  try {
    response = await inTime((signal) =>
      fetch(`${settings.base}/api/${path}`, {
        signal,
        method,
        headers,
        credentials: 'same-origin',
        // A sign-out is sent even if its tab is closed at once.
        keepalive: true,
        body: body && JSON.stringify(body),
      }),
    )
  } catch {
    throw new ApiError(0, 'OFFLINE', '')
  }
  const { data, error } = (await response.json().catch(() => ({}))) as Envelope<Data>
  if (!response.ok) {
    throw new ApiError(response.status, error?.code ?? 'SERVICE_UNAVAILABLE', error?.message ?? '', issuesOf(error))
  }
  return data as Data
}

/** The identity routes name the fields in one sentence: `email: is required; password: is too short`. */
function issuesOf(error: Envelope<unknown>['error']): Issue[] {
  if (error?.code !== 'VALIDATION_ERROR') return []
  return error.message.split('; ').flatMap((part) => {
    const [, path, message] = part.match(/^([\w.]+): (.+)$/) ?? []
    return path && message ? [{ path, message }] : []
  })
}

/** Posts to `/api/auth/PATH`. @throws ApiError */
export function post<Data = unknown>(path: string, body: object, token?: string | null): Promise<Data> {
  return call('POST', `auth/${path}`, body, token)
}

/** Any other route below `/api/`. @throws ApiError */
export function rest<Data = unknown>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  token: string | null,
  body?: object,
): Promise<Data> {
  return call(method, path, body, token)
}

// The one way to ask the graph over HTTP: with the token and the workspace, and once more after a 401.
import { ApiError, type Issue, inTime } from '../session/auth-call.ts'
import { accessToken, renew } from '../session/session.ts'
import { noteBuild, settings } from '../settings.ts'

/** A document of the generated file, with the types of its data and variables. */
export interface Document<Data, Variables> {
  toString: () => string
  readonly __apiType?: (variables: Variables) => Data
}

export interface GraphError {
  message: string
  extensions?: { code?: string; issues?: Issue[] }
}

/** The team of a workspace; null is the person's own. */
export type Team = string | null

export const graphUrl = `${settings.base}/graphql`

/** In characters. A longer body, such as an import, takes as long as the network needs for it. */
const longBody = 100_000

/** Headers of a request in that workspace. */
export async function headersFor(team: Team): Promise<Record<string, string>> {
  const token = await accessToken()
  return { ...(token && { authorization: `Bearer ${token}` }), ...(team && { 'x-team-id': team }) }
}

/** `fetch` with the headers of the workspace. A token that was refused is renewed, once. */
export function fetchFor(team: Team): typeof fetch {
  return async (input, init) => {
    const send = async () => await fetch(input, { ...init, headers: { ...asRecord(init?.headers), ...(await headersFor(team)) } })
    const response = await send()
    noteBuild(response)
    if (response.status !== 401 || !(await renew())) return response
    return await send()
  }
}

/** As {@link fetchFor}. Unless the body is long, an answer that does not begin within a minute counts as lost. */
export function fetchInTime(team: Team): typeof fetch {
  const send = fetchFor(team)
  return async (input, init) => {
    if (String(init?.body).length > longBody) return await send(input, init)
    return await inTime((late) => send(input, { ...init, signal: AbortSignal.any([late, init?.signal ?? late]) }))
  }
}

function asRecord(headers: HeadersInit | undefined): Record<string, string> {
  return Object.fromEntries(new Headers(headers))
}

/** Sends one operation without keeping its answer. For what must not stay in the cache, and for what the cache has no use for. @throws ApiError */
export async function ask<Data, Variables>(team: Team, document: Document<Data, Variables>, variables: Variables): Promise<Data> {
  const body = JSON.stringify({ query: document.toString(), variables })
  const headers = { 'content-type': 'application/json' }
  let response: Response
  try {
    response = await fetchInTime(team)(graphUrl, { method: 'POST', headers, body })
  } catch {
    throw new ApiError(0, 'OFFLINE', '')
  }
  const { data, errors } = (await response.json().catch(() => ({}))) as { data?: Data; errors?: GraphError[] }
  const [error] = errors ?? []
  if (error) throw errorOf(response.status, error)
  if (!data) throw new ApiError(response.status, 'SERVICE_UNAVAILABLE', '')
  return data
}

/** The refusal that an error of the graph stands for. */
export function errorOf(status: number, { message, extensions }: GraphError): ApiError {
  const code = extensions?.code ?? 'INTERNAL_ERROR'
  return new ApiError(status, code, message, extensions?.issues)
}

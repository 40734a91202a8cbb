// Reads a query through the cache: first the cached data, then the answer of the gateway, then every change by events.
import { useEffect, useRef, useState } from 'react'
import { type CombinedError, useQuery } from 'urql'
import { ApiError } from '../session/auth-call.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { passes } from './passing.ts'
import { type Document, errorOf } from './request.ts'

/** Soon enough that a reader sees the present state within 2 s of the gateway's return. */
export const againMs = 1_500

export interface Reading<Data> {
  data: Data | undefined
  /** Stays until the next answer to the same question, so that a reader does not see it come and go. */
  error: ApiError | undefined
  /** False while the same question is only asked again, so that an empty list stays an empty list. */
  loading: boolean
  /** Asks again. An answer that is awaited comes first: asking anew would give it up, and events may come faster than answers. */
  again: () => void
}

export function useRead<Data, Variables extends object>(
  document: Document<Data, Variables>,
  variables: Variables,
  { pause = false }: { pause?: boolean } = {},
): Reading<Data> {
  const { live } = useWorkspace()
  const [{ data, error, fetching }, run] = useQuery<Data>({
    query: document.toString(),
    variables,
    requestPolicy: 'cache-and-network',
    pause,
  })
  const [wanted, want] = useState(false)
  const again = () => want(true)
  useEffect(() => {
    if (!wanted || pause || fetching) return
    want(false)
    run({ requestPolicy: 'network-only' })
  }, [wanted, pause, fetching, run])
  useEffect(() => (pause ? undefined : live.onReset(() => want(true))), [live, pause])
  // A gateway that was away is asked again, until it answers.
  useEffect(() => {
    if (pause || !error || !passes(apiErrorOf(error))) return
    const timer = setTimeout(() => want(true), againMs)
    return () => clearTimeout(timer)
  }, [error, pause])
  const asked = JSON.stringify(variables)
  const last = useRef<{ asked: string; data: Data | undefined; error: CombinedError | undefined }>(undefined)
  const before = last.current?.asked === asked ? last.current : undefined
  const failed = fetching ? (error ?? before?.error) : error
  const failure = failed && apiErrorOf(failed)
  // The last data stay while the gateway is away, so that the page stays with the text typed on it.
  const known = data ?? (failure && passes(failure) ? before?.data : undefined)
  // urql keeps the answer to the question before, also while there is none.
  const shown = pause ? undefined : known
  useEffect(() => {
    if ((data || error) && !fetching) last.current = { asked, data: shown, error }
  }, [data, error, fetching, asked, shown])
  return { data: shown, error: failure, loading: fetching && !before, again }
}

/** The refusal behind an error of urql. */
export function apiErrorOf({ graphQLErrors: [first], response }: CombinedError): ApiError {
  if (!first) return new ApiError(0, response?.status === 503 ? 'SERVICE_UNAVAILABLE' : 'OFFLINE', '')
  return errorOf(response?.status ?? 200, { message: first.message, extensions: first.extensions as { code?: string } })
}

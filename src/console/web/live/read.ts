// Reads a stream of the graph, and events after a cursor by one short request.
import { createClient, NetworkError } from 'graphql-sse'
import { type EventRowFragment, EventsSinceDocument } from '../generated/graph/graphql.ts'
import { everyType } from '../graph/event-types.ts'
import { ask, type Document, graphUrl, headersFor, type Team } from '../graph/request.ts'
import { type Ending, endingOfCode, endingOfStatus } from './ending.ts'

interface Reading<Data, Variables> {
  team: Team
  /** A subscription. */
  document: Document<Data, Variables>
  variables: Variables
  signal: AbortSignal
  /** Called once the gateway has answered; `at` is its clock, in milliseconds. */
  opened?: (at: number) => void
  received: (data: Data) => void
}

/** The gateway sends a heartbeat every 10 s. A connection that is silent for longer is lost, although neither end was told. */
const silentMs = 25_000

/** The client closes a stream by its abort signal only, so each stream has a client of its own. Resolves when the stream ends. */
export function readStream<Data, Variables extends Record<string, unknown>>(reading: Reading<Data, Variables>): Promise<Ending> {
  const { team, document, variables, signal, opened, received } = reading
  return new Promise((resolve) => {
    const client = createClient({
      url: graphUrl,
      retryAttempts: 0,
      headers: () => headersFor(team),
      fetchFn: async (input: RequestInfo, init: RequestInit) => {
        const response = await fetch(input, init)
        if (response.ok) opened?.(Date.parse(response.headers.get('date') ?? '') || Date.now())
        const heartbeats = new TransformStream<Uint8Array, Uint8Array>({
          transform(bytes, next) {
            hear()
            next.enqueue(bytes)
          },
        })
        return new Response(response.body?.pipeThrough(heartbeats), response)
      },
    })
    let silence: ReturnType<typeof setTimeout> | undefined
    const hear = () => {
      clearTimeout(silence)
      silence = setTimeout(() => end('closed'), silentMs)
    }
    const end = (ending: Ending) => {
      clearTimeout(silence)
      signal.removeEventListener('abort', abort)
      client.dispose()
      resolve(ending)
    }
    const abort = () => end('closed')
    signal.addEventListener('abort', abort)
    hear()
    client.subscribe<Data>(
      { query: document.toString(), variables },
      {
        next({ data, errors }) {
          if (errors) end(endingOfCode(String(errors[0]?.extensions?.code)))
          else if (data) received(data)
        },
        error: (error) => end(endingOf(error)),
        complete: () => end('closed'),
      },
    )
    if (signal.aborted) abort()
  })
}

function endingOf(error: unknown): Ending {
  return endingOfStatus(error instanceof NetworkError ? (error.response as Response | undefined)?.status : undefined)
}

/** The next events, at most 100; without a cursor, the oldest. @throws ApiError */
export async function readSince(team: Team, after: string | null): Promise<{ events: EventRowFragment[]; more: boolean }> {
  const { events } = await ask(team, EventsSinceDocument, { after, first: 100, types: everyType })
  return { events: events.nodes as EventRowFragment[], more: events.pageInfo.hasNextPage }
}

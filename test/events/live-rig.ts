// Setup for tests of the endpoints of live events: a gateway that serves and numbers events, an account, and streams.
import { type Account, connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { emitMany, type Place } from './rig.ts'
import { openSse, type SseReader } from './sse.ts'

export interface LiveRig {
  databaseUrl: string
  /** A test that stops the gateway must put its successor here. */
  gateway: OpenGateway
  account: Account
  place: Place
  /** The header with the account's key. */
  key: Record<string, string>
}

/** Without workers, so that only the events that a test emits occur. */
export const liveEnv = { RATE_LIMIT_PER_SECOND: '1000', ROLES: 'http,relay' }

/** Uses a clone of its own or the given database. Ends with the test, or with the file when no test runs. */
export async function openLiveRig(options: { databaseUrl?: string; gateway?: OpenGateway } = {}): Promise<LiveRig> {
  const { databaseUrl = await cloneDatabase() } = options
  const gateway = options.gateway ?? (await openGateway({ databaseUrl, env: liveEnv }))
  const account = await createAccount(databaseUrl)
  const { id: instanceId } = await connectedInstance(databaseUrl, account)
  return {
    databaseUrl,
    gateway,
    account,
    place: { workspaceId: account.workspaceId, instanceId },
    key: { 'x-api-key': account.apiKey },
  }
}

/** Starts the gateway again after a test stopped it. */
export async function reopen(live: LiveRig): Promise<void> {
  live.gateway = await openGateway({ databaseUrl: live.databaseUrl, env: liveEnv })
}

export function plainUrl({ gateway }: LiveRig, query = ''): URL {
  return new URL(`/api/v1/events/stream${query}`, gateway.url)
}

export function graphqlUrl({ gateway }: LiveRig): URL {
  return new URL('/graphql', gateway.url)
}

/** The endpoint for many operations on one connection (single connection mode). */
export function singleUrl({ gateway }: LiveRig): URL {
  return new URL('/graphql/stream', gateway.url)
}

export const subscription = 'subscription ($after: String) { events(after: $after) { cursor payload } }'

/** Opens a plain stream, which resumes after `lastEventId` if it is given. */
export async function openPlain(live: LiveRig, lastEventId?: string): Promise<SseReader> {
  return await openSse(plainUrl(live), {
    headers: { ...live.key, ...(lastEventId ? { 'last-event-id': lastEventId } : {}) },
  })
}

/** Opens a GraphQL stream, which resumes after the cursor `after` if it is given. */
export async function openGraphql(live: LiveRig, after?: string): Promise<SseReader> {
  return await openSse(graphqlUrl(live), { headers: live.key, body: { query: subscription, variables: { after } } })
}

/** Returns the `n` of each event that a GraphQL reader received. */
export function graphqlNumbers(reader: SseReader): number[] {
  return reader.events.map(({ data }) => Number(JSON.parse(data ?? '').data.events.payload.n))
}

/** Emits events of the place, numbered from `first` on, in one transaction. */
export async function happen({ databaseUrl, place }: LiveRig, count: number, first = 0, padding = ''): Promise<void> {
  await emitMany(sql(databaseUrl), place, count, first, padding)
}

/** Creates an instance of another account. */
export async function foreignInstance({ databaseUrl }: LiveRig): Promise<string> {
  return (await connectedInstance(databaseUrl, await createAccount(databaseUrl))).id
}

/** Returns one figure of the gateway's `/metrics`. */
export async function metric({ gateway }: LiveRig, name: string): Promise<number> {
  const text = await (await fetch(new URL('/metrics', gateway.url))).text()
  return Number(text.match(new RegExp(`^${name} (\\S+)`, 'm'))?.[1])
}

/** Waits until exactly `count` streams are open: the streams of an earlier test end a moment after it. */
export async function openStreams(live: LiveRig, count: number): Promise<void> {
  await until(async () => (await metric(live, 'gateway_open_streams')) === count)
}

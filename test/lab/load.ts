// The clients of the lab: careful senders, readers of live events that resume, and a receiver of webhooks.
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from 'graphql-sse'
import { pickFrom } from '../kit/random.ts'
import { createPosts, type Posts, takeTurns } from './posts.ts'

export interface Sending {
  /** Ids of acknowledged messages. */
  acknowledged: string[]
  /** Recipients of acknowledged campaigns. */
  recipients: number
  /** When each acknowledgement of a message came (ms since 1970). */
  at: number[]
  /** The address that the last one came from. */
  lastFrom: string | undefined
  posts: Posts
  /** Ends the load; what has begun is repeated until it is answered. */
  stop: () => Promise<void>
}

interface Senders {
  /** Each attempt calls the next one. */
  urls: readonly string[]
  apiKey: string
  instanceIds: readonly string[]
  clients: number
  /** Pause of each client between two messages. */
  restMs: number
  /** The last digits of the numbers, which decide how the sandbox treats them. */
  endings?: readonly string[] | undefined
  random: () => number
}

/** Plain numbers, and some of each kind that disturbs. */
const everyEnding = ['5555', '5555', '5555', '5555', '0001', '0002', '0003', '0004', '0005', '0008', '0009', '0010']

/** Messages to one number, so that their order matters. */
const perNumber = 3

const recipientsOfCampaign = 20
/** Pause between two campaigns. */
const campaignRestMs = 8_000

/** Starts clients that send one message after the other, and one that starts campaigns. */
export function startSending(options: Senders): Sending {
  const { urls, apiKey, instanceIds, clients, restMs, endings = everyEnding, random } = options
  const posts = createPosts(urls, apiKey)
  const stopping = new AbortController()
  let numbers = 0
  const sending: Sending = {
    acknowledged: [],
    recipients: 0,
    at: [],
    lastFrom: undefined,
    posts,
    async stop() {
      stopping.abort()
      await running
    },
  }
  const nextNumber = () => `+3933${String(++numbers).padStart(4, '0')}${pickFrom(endings, random)}`
  const rest = (ms: number) => pause(ms, undefined, { signal: stopping.signal }).catch(() => {})
  const running = Promise.all([startCampaigns(), ...Array.from({ length: clients }, sendMessages)])

  async function sendMessages(): Promise<void> {
    while (!stopping.signal.aborted) {
      const to = nextNumber()
      const instanceId = pickFrom(instanceIds, random)
      for (let n = 1; n <= perNumber && !stopping.signal.aborted; n++) {
        const made = await posts.post('messages/send', { instanceId, to, type: 'text', text: `lab ${to} ${n}` })
        if (made) {
          sending.acknowledged.push(made.id)
          sending.at.push(Date.now())
          sending.lastFrom = made.from
        }
        await rest(restMs)
      }
    }
  }

  async function startCampaigns(): Promise<void> {
    for (;;) {
      await rest(campaignRestMs)
      if (stopping.signal.aborted) return
      const recipients = Array.from({ length: recipientsOfCampaign }, () => ({ to: nextNumber() }))
      const campaign = { instanceId: pickFrom(instanceIds, random), name: 'Lab', type: 'text', text: 'lab', recipients }
      if (await posts.post('campaigns', campaign)) sending.recipients += recipients.length
    }
  }
  return sending
}

export interface Reader {
  /** Ids of the events that came, in their order. */
  ids: string[]
  /** When each came (ms since 1970). */
  at: number[]
  /** From an event's moment to its arrival, in ms. */
  lags: number[]
  reconnects: number
  singleConnection: boolean
  stop: () => Promise<void>
}

const follow = 'subscription Follow($after: String) { events(after: $after) { id cursor createdAt } }'

interface Followed {
  id: string
  cursor: string
  createdAt: string
}

interface Reading {
  urls: readonly string[]
  apiKey: string
  /** It begins behind this event. */
  cursor: string
  /** Single-connection mode of graphql-sse: a token first, whatever node gave it. */
  singleConnection: boolean
}

/** Follows all events of the account. After each lost stream it resumes at its last cursor. */
export function startReading({ urls, apiKey, cursor: start, singleConnection }: Reading): Reader {
  const nextUrl = takeTurns(urls)
  const stopping = new AbortController()
  let cursor = start
  const reader: Reader = {
    ids: [],
    at: [],
    lags: [],
    reconnects: 0,
    singleConnection,
    async stop() {
      stopping.abort()
      await running
    },
  }
  const running = run()

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await readOne().catch(() => {})
      reader.reconnects++
      await pause(200, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  async function readOne(): Promise<void> {
    const headers = { 'x-api-key': apiKey }
    const url = `${nextUrl()}/graphql${singleConnection ? '/stream' : ''}`
    const client = createClient({ url, headers, retryAttempts: 0, singleConnection })
    const events = client.iterate<{ events: Followed }>({ query: follow, variables: { after: cursor } })
    stopping.signal.addEventListener('abort', () => void events.return?.(), { once: true })
    try {
      for await (const { data, errors } of events) {
        if (errors || !data) throw new Error(JSON.stringify(errors))
        reader.ids.push(data.events.id)
        reader.at.push(Date.now())
        reader.lags.push(Date.now() - Date.parse(data.events.createdAt))
        cursor = data.events.cursor
      }
    } finally {
      client.dispose()
    }
  }
  return reader
}

/** The events that the endpoint of the lab subscribes to. */
export const webhookEvents = ['message.sent', 'message.delivered', 'message.read', 'message.failed', 'message.received']

export interface Receiver extends AsyncDisposable {
  url: string
  /** How often each event came, by its id. */
  received: Map<string, number>
  /** When each accepted request came (ms since 1970). */
  at: number[]
  /** The events whose first request has no answer yet. */
  waiting: ReadonlySet<string>
}

/**
 * A webhook receiver that refuses every twentieth request, but each event once only: the fourth attempt comes after 100 s, which is longer than
 * the lab waits. With `firstMs` it refuses the first one of each event and no other, after that time.
 */
export async function openReceiver(firstMs?: number): Promise<Receiver> {
  const received = new Map<string, number>()
  const at: number[] = []
  const seen = new Set<string>()
  const waiting = new Set<string>()
  let requests = 0

  async function refuses(id: string): Promise<boolean> {
    if (seen.has(id) || (firstMs === undefined && ++requests % 20 !== 0)) return false
    seen.add(id)
    if (firstMs === undefined) return true
    waiting.add(id)
    await pause(firstMs)
    return waiting.delete(id)
  }
  const server = http.createServer(async (request, response) => {
    const body = await textOf(request).catch(() => '')
    // Its node died before the end of the request.
    if (body === '') return
    const { id } = JSON.parse(body) as { id: string }
    if (await refuses(id)) return void response.writeHead(503).end()
    received.set(id, (received.get(id) ?? 0) + 1)
    at.push(Date.now())
    response.writeHead(204).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    at,
    waiting,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

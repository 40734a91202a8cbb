// fan-out: events of one workspace to 1,000 subscribers with one document, against a bare server that writes the same bytes.
import { type ChildProcess, fork } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import path from 'node:path'
import { newId } from '../../src/core/id.ts'
import { emit } from '../../src/events/log/emit.ts'
import { messageEvent } from '../../src/messages/events.ts'
import type { Figures } from './accept.ts'
import type { ReadersOrder } from './fanout-readers.ts'
import { type Account, median, openStage, type Running, type Stage } from './stage.ts'

const subscribers = 1_000
/** The most subscriptions that one key may hold. */
const subscribersOfKey = 50
const eventsOfRound = 200
const rounds = 5

const document = 'subscription { events { id type cursor createdAt payload } }'

/** One server under load: a function that publishes a round to it, and the process that reads from it. */
interface Side {
  publish: () => Promise<void>
  readers: ChildProcess
}

export async function benchFanout(): Promise<Figures[]> {
  await using stage = await openStage(1)
  const account = stage.accounts[0] as Account
  await using gateway = await stage.start('src/main.ts', { ROLES: 'http,relay' })
  await using baseline = await stage.start('test/bench/baseline-sse.ts')
  const gatewayMemory = () => memoryOf(gateway, '/metrics', /^process_resident_memory_bytes (\S+)/m)
  const baselineMemory = () => memoryOf(baseline, '/memory', /^(\d+)/)

  const empty = { gateway: await gatewayMemory(), baseline: await baselineMemory() }
  const ours = await openReaders(gateway, await requestsTo(stage, account, gateway))
  const theirs = await openReaders(
    baseline,
    Array.from({ length: subscribers }, () => 'GET / HTTP/1.1\r\nhost: bench\r\n\r\n'),
  )
  const full = { gateway: await gatewayMemory(), baseline: await baselineMemory() }

  const text = await frameOf(stage, account, gateway)
  const sides = {
    gateway: { readers: ours, publish: () => publishEvents(stage, account) },
    baseline: { readers: theirs, publish: () => publishTexts(baseline, text) },
  } satisfies Record<string, Side>
  const seconds = { gateway: [] as number[], baseline: [] as number[] }
  for (let round = -1; round < rounds; round++) {
    for (const name of ['baseline', 'gateway'] as const) {
      const took = await timeRound(sides[name])
      // The first round of each only warms up.
      if (round >= 0) seconds[name].push(took)
    }
  }
  for (const readers of [ours, theirs]) await close(readers)

  const rate = (values: readonly number[]) => (subscribers * eventsOfRound) / median(values)
  const kilobytes = (name: 'gateway' | 'baseline') => (full[name] - empty[name]) / subscribers / 1024
  return [
    figure('fan-out', 'events/s', rate(seconds.baseline), rate(seconds.gateway), '≥ 0.4 ×'),
    figure('fan-out: memory of an idle subscriber', 'KiB', kilobytes('baseline'), kilobytes('gateway'), 'printed'),
  ]
}

function figure(name: string, unit: string, baseline: number, gateway: number, target: string): Figures {
  return { name, unit, baseline, gateway, ratio: gateway / baseline, target }
}

async function timeRound({ readers, publish }: Side): Promise<number> {
  const done = once(readers, 'message')
  readers.send({ expect: eventsOfRound } satisfies ReadersOrder)
  const began = performance.now()
  await Promise.all([publish(), done])
  return (performance.now() - began) / 1000
}

async function openReaders(server: Running, requests: string[]): Promise<ChildProcess> {
  const readers = fork(path.join(import.meta.dirname, 'fanout-readers.ts'))
  const { hostname: host, port } = new URL(server.url)
  readers.send({ open: { host, port: Number(port), requests } } satisfies ReadersOrder)
  await once(readers, 'message')
  return readers
}

async function close(readers: ChildProcess): Promise<void> {
  readers.kill()
  await once(readers, 'exit')
}

/** The raw requests of all subscribers, spread over as many keys as they need. */
async function requestsTo(stage: Stage, account: Account, gateway: Running): Promise<string[]> {
  const body = JSON.stringify({ query: document })
  const keys: string[] = []
  for (let i = 0; i < subscribers / subscribersOfKey; i++) {
    const key = `svc_live_${randomBytes(32).toString('hex')}`
    await stage.pool.query(
      `insert into api_keys (id, "userId", "workspaceId", name, prefix, hash) values ($1, $2, $3, 'bench', 'svc_live_', $4)`,
      [newId(), account.userId, account.workspaceId, createHash('sha256').update(key).digest()],
    )
    keys.push(key)
  }
  return Array.from({ length: subscribers }, (_, i) =>
    [
      'POST /graphql HTTP/1.1',
      `host: ${new URL(gateway.url).host}`,
      'accept: text/event-stream',
      'content-type: application/json',
      `x-api-key: ${keys[i % keys.length]}`,
      `content-length: ${body.length}`,
      '',
      body,
    ].join('\r\n'),
  )
}

function eventsFor(account: Account, count: number): Parameters<typeof emit>[1] {
  const { workspaceId, instanceId } = account
  return Array.from({ length: count }, () => {
    const message = { id: newId(), workspaceId, instanceId, campaignId: null, providerMessageId: newId(), to: '+393332221100' }
    return messageEvent(message, 'delivered', new Date())
  })
}

async function publishEvents({ pool }: Stage, account: Account): Promise<void> {
  for (let sent = 0; sent < eventsOfRound; sent += 20) await emit(pool, eventsFor(account, 20))
}

async function publishTexts(baseline: Running, text: string): Promise<void> {
  const texts = Array.from({ length: eventsOfRound }, () => text)
  await fetch(`${baseline.url}/publish`, { method: 'POST', body: JSON.stringify(texts) })
}

/** The bytes that the gateway writes for one event; the baseline writes the same. */
async function frameOf(stage: Stage, account: Account, gateway: Running): Promise<string> {
  const stopping = new AbortController()
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { accept: 'text/event-stream', 'content-type': 'application/json', 'x-api-key': account.apiKey },
    body: JSON.stringify({ query: document }),
    signal: stopping.signal,
  })
  await emit(stage.pool, eventsFor(account, 1))
  let text = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    const frame = text.match(/event: next\n.*\n\n/s)?.[0]
    if (!frame) continue
    stopping.abort()
    return frame
  }
  throw new Error('the gateway sent no event')
}

async function memoryOf(server: Running, route: string, pattern: RegExp): Promise<number> {
  const text = await (await fetch(server.url + route)).text()
  return Number(text.match(pattern)?.[1])
}

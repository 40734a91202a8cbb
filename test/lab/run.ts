// One run of the lab: sets everything up, loads it, breaks it, and judges.
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { createAccount } from '../../src/accounts/service.ts'
import { openDatabase } from '../../src/core/database/database.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { newId } from '../../src/core/id.ts'
import { seeded } from '../kit/random.ts'
import { until } from '../kit/until.ts'
import { openCluster } from './cluster.ts'
import { type Fault, strike, type Target } from './faults.ts'
import { findDamaged, openBucket, startFiling } from './files.ts'
import { openFront } from './front.ts'
import { openReceiver, type Receiver, type Sending, startReading, startSending, webhookEvents } from './load.ts'
import { watchMemory } from './memory.ts'
import { type Node, nodePorts, openNode } from './nodes.ts'
import { openPlace, type Place } from './place.ts'
import { judge, type Line } from './verdict.ts'

export interface LabOptions {
  nodes: number
  /** Members of the PostgreSQL cluster; or the URL of a migrated database without anything around it. */
  database: number | string
  seconds: number
  /** Undefined: no faults. */
  seed: number | undefined
  /** Only these faults. */
  only?: readonly string[] | undefined
  /** Breaks something at a moment that it waits for, in place of the faults of a seed. */
  strike?: (scene: Scene) => Promise<Fault[]>
  /** The folder whose `src/main.ts` the nodes run; this repository by default. */
  program?: string
  /** Adds to the variables of the nodes, or overrides them. */
  env?: Record<string, string>
  /** The last digits of the numbers; all behaviours of the sandbox by default. */
  endings?: readonly string[]
  /** Time in ms that the networks hang on each message before they take it. */
  hangMs?: number
  /** The receiver of webhooks refuses the first request of each event, after so many ms, in place of every twentieth. */
  firstRefusedMs?: number
  /** Keeps the folder with the logs. */
  keep?: boolean
}

/** A running lab, for a strike. */
export interface Scene {
  nodes: readonly Node[]
  /** The address of each node. */
  urls: readonly string[]
  pool: pg.Pool
  sending: Sending
  receiver: Receiver
}

export async function runLab(options: LabOptions): Promise<Line[]> {
  const { seconds, seed, only, strike: strikeAt, endings, hangMs = 0, firstRefusedMs, keep = false } = options
  await using parts = new AsyncDisposableStack()
  const place = parts.use(openPlace(keep))
  console.log(`folder: ${place.folder}`)
  const { bucket, env } = await openBucket()
  parts.use(bucket)
  const stage = await openStage(place, parts, { ...options, env: { ...env, ...options.env } })
  const { nodes, around, urls, pool, databaseUrl } = stage
  const account = await prepareAccount(pool, databaseUrl, hangMs)
  await Promise.all(nodes.map((node) => node.start()))
  await until(async () => (await Promise.all(urls.map((url) => fetch(`${url}/readyz`)))).every(({ ok }) => ok))
  const receiver = parts.use(await openReceiver(firstRefusedMs))
  const cursor = await prepareReading(urls[0] as string, account.apiKey, receiver)

  const random = seeded(seed ?? 1)
  const startedAt = Date.now()
  const memory = watchMemory(nodes)
  const readers = [false, false, true].map((singleConnection) =>
    startReading({ urls, apiKey: account.apiKey, cursor, singleConnection }),
  )
  const sending = startSending({ ...account, urls, clients: 12, restMs: 250, endings, random: seeded((seed ?? 1) + 1_000) })
  const filing = startFiling(sending.posts, seeded((seed ?? 1) + 2_000))
  const end = startedAt + seconds * 1_000
  const bySeed = async () => (seed === undefined ? [] : await strike({ nodes, around, bucket, pool }, random, end, only))
  const faults = await (strikeAt?.({ nodes, urls, pool, sending, receiver }) ?? bySeed())
  await pause(Math.max(0, end - Date.now()))
  await Promise.all([sending.stop(), filing.stop()])
  const used = memory.end()
  const damaged = await findDamaged(filing.stored, urls, account.apiKey)
  const lines = await judge({ pool, workspaceId: account.workspaceId, sending, readers, receiver, faults, startedAt })
  const files = { what: 'stored files that are not whole', value: `${damaged.length} of ${filing.stored.size}` }
  return [...lines, { ...files, kept: damaged.length === 0 }, used]
}

interface Stage extends Omit<Target, 'bucket'> {
  /** The addresses for clients: the balancer, or each node. */
  urls: readonly string[]
  /** Past the pooler. */
  databaseUrl: string
}

/** Opens the database with all that stands around it, and prepares the nodes, which do not run yet. */
async function openStage(place: Place, parts: AsyncDisposableStack, options: LabOptions): Promise<Stage> {
  const { nodes: count, database, program, env } = options
  const ports = await nodePorts(count)
  const cluster = typeof database === 'number' ? await openCluster(place, parts, database) : undefined
  const front = cluster && (await openFront(place, parts, cluster, ports))
  const databaseUrl = front?.directUrl ?? String(database)
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 })
  pool.on('error', () => {})
  parts.defer(() => pool.end())
  if (cluster) await migrate(databaseUrl)
  const urls = front ? [front.url] : ports.map((port) => `http://127.0.0.1:${port}`)
  const shared = { databaseUrl: front?.pooledUrl ?? databaseUrl, directUrl: front?.directUrl, program, env }
  const nodes: Node[] = []
  for (const [n, port] of ports.entries()) {
    const publicUrl = urls[n] ?? (urls[0] as string)
    nodes.push(await openNode(place, parts, { number: n + 1, port, publicUrl, ...shared }))
  }
  return { nodes, around: cluster && front && { cluster, front }, urls, pool, databaseUrl }
}

/** An account with two phones: one network deduplicates by our id, the other does not. */
async function prepareAccount(
  pool: pg.Pool,
  url: string,
  hangMs: number,
): Promise<{ apiKey: string; workspaceId: string; instanceIds: string[] }> {
  await using database = openDatabase(url, () => {}, { max: 1 })
  const { apiKey, workspaceId, userId } = await createAccount(database.db, {
    email: 'lab@gateway.test',
    name: 'Lab',
    plan: 'max',
  })
  const instanceIds: string[] = []
  for (const clientReferences of [true, false]) {
    const id = newId()
    await pool.query(
      `insert into instances (id, "workspaceId", "userId", name, provider, status, settings, "waNumber", "firstConnectedAt", disconnections)
       values ($1, $2, $3, 'lab', 'sandbox', 'connected', $4, $5, now() - interval '30 days', '{}')`,
      [id, workspaceId, userId, JSON.stringify({ clientReferences, hangMs }), `+39333000000${instanceIds.length}`],
    )
    instanceIds.push(id)
  }
  return { apiKey, workspaceId, instanceIds }
}

/** Creates the endpoint; returns the cursor of the first event, which that one causes. */
async function prepareReading(url: string, apiKey: string, receiver: Receiver): Promise<string> {
  const ask = async (query: string, variables: object) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    const { data, errors } = (await response.json()) as { data?: Record<string, never>; errors?: unknown }
    if (errors || !data) throw new Error(JSON.stringify(errors))
    return data
  }
  await ask('mutation($input: CreateWebhookInput!) { createWebhook(input: $input) { id } }', {
    input: { url: receiver.url, events: webhookEvents.map((type) => type.replace('.', '_')) },
  })
  const { events } = (await ask('{ events(last: 1) { pageInfo { endCursor } } }', {})) as unknown as {
    events: { pageInfo: { endCursor: string } }
  }
  return events.pageInfo.endCursor
}

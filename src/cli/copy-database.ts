// `gateway copy-database`: copies everything from the configured database into an empty one, in one transaction of the target.
import { Client } from '../core/database/client.ts'
import { copyRows, ReadFailed } from '../core/database/copy-rows.ts'
import { newerMigrations } from '../core/database/migrate.ts'
import { indexJobs } from '../core/jobs/due.sql.ts'
import { sentenceOf } from '../core/sentence.ts'
import { listNodes } from '../operator/nodes.ts'
import { installSchema } from './command-database.ts'
import {
  analyzeTables,
  beginAlone,
  beginSnapshot,
  type CopiedTable,
  commit,
  copySequences,
  copyTexts,
  countRows,
  dropChecks,
  emptyTables,
  readCopiedPartitions,
  readFilled,
  readRelations,
  readTables,
  replacePartitions,
  setLimits,
  takeCopyLock,
} from './copy-database.sql.ts'

export interface Copied {
  tables: number
  rows: number
}

export interface CopyOptions {
  /** URLs of the databases, not of a pooler in front of them. */
  from: string
  to: string
  /** Receives lines about the progress. */
  say: (line: string) => void
}

const sayEveryMs = 5_000

/**
 * Copies all rows. Nobody can write the source meanwhile, and an interruption leaves no row in the target.
 * @throws Error in one sentence when a gateway uses the source, or the target is not empty.
 */
export async function copyDatabase({ from, to, say }: CopyOptions): Promise<Copied> {
  await using source = await connect(from)
  await refuseNewer(source.client)
  await using target = await ofTarget(connect(to))
  if (!(await takeCopyLock(source.client))) throw new Error('Another copy-database reads this database; wait until it has ended')
  if (!(await takeCopyLock(target.client))) {
    throw new Error('URL leads to the database that is copied, or another copy-database uses it; name another database')
  }
  await refuseGateways(source.client)
  await installSchema(from)
  await refuseFilled(source.client, target.client)
  await ofTarget(installSchema(to))
  await ofTarget(indexJobs(target.client))
  const tables = await readTables(target.client)
  await lockSource(source.client, tables)
  // One may have started before the lock.
  await refuseGateways(source.client)
  await refuseOtherColumns(source.client, tables)
  const rows = await ofTarget(fill(source.client, target.client, tables, say))
  say('collecting statistics')
  // Everything is copied. Without these, the server collects them itself after a while.
  await analyzeTables(target.client, tables).catch((error: Error) => say(`no statistics were collected: ${error.message}`))
  return { tables: tables.length, rows }
}

async function connect(url: string): Promise<{ client: Client } & AsyncDisposable> {
  const client = new Client({
    connectionString: url,
    application_name: 'gateway-copy',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    // The texts of values are the same on both sides.
    options: '-c intervalstyle=postgres -c extra_float_digits=1',
  })
  // A connection that breaks fails its statement, which reports the error.
  client.on('error', () => {})
  await client.connect()
  await setLimits(client)
  return { client, [Symbol.asyncDispose]: () => client.end().catch(() => {}) }
}

/** The sentences about databases name DATABASE_URL, which is the source. */
async function ofTarget<T>(work: Promise<T>): Promise<T> {
  return await work.catch((error: Error) => {
    if (error instanceof ReadFailed) throw error.cause
    throw new Error(sentenceOf(error).replaceAll(/DATABASE_(DIRECT_)?URL/g, 'URL'), { cause: error })
  })
}

/** Resolves with undefined if the table does not exist (42P01). */
async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  return await reading.catch((error: Error & { code?: string }) => {
    if (error.code !== '42P01') throw error
    return undefined
  })
}

async function refuseNewer(source: Client): Promise<void> {
  const newer = await unlessMissing(newerMigrations(source))
  if (!newer) throw new Error('The configured database has no gateway yet, so there is nothing to copy')
  if (newer.length > 0) {
    throw new Error(
      `A newer version of the gateway has migrated this database (${newer.join(', ')}); run that version of this command`,
    )
  }
}

async function refuseGateways(source: Client): Promise<void> {
  // Older versions do not have the table.
  const nodes = (await unlessMissing(listNodes({ pool: source }))) ?? []
  const [node] = nodes.filter(({ alive }) => alive)
  if (!node) return
  throw new Error(
    `A gateway uses this database (process ${node.pid} on ${node.host}); stop every process first. One that was killed is forgotten after 45 s`,
  )
}

async function refuseFilled(source: Client, target: Client): Promise<void> {
  const own = new Set([...(await readRelations(source)), 'public._prisma_migrations'])
  const there = await readRelations(target)
  const foreign = there.filter((name) => !own.has(name))
  if (foreign.length > 0) {
    throw new Error(`The database at URL has other tables or views (${some(foreign)}); name one that nothing else uses`)
  }
  refuseRows(await readFilled(target, there))
}

function refuseRows(filled: readonly string[]): void {
  if (filled.length === 0) return
  throw new Error(
    `The database at URL has rows already (${some(filled)}); if nobody needs them, drop that database and create it again, otherwise name another one`,
  )
}

function some(names: readonly string[]): string {
  const more = names.length > 5 ? ` and ${names.length - 5} more` : ''
  return names.slice(0, 5).join(', ').replaceAll('public.', '') + more
}

async function lockSource(source: Client, tables: readonly CopiedTable[]): Promise<void> {
  await beginSnapshot(source, tables).catch((error: Error & { code?: string }) => {
    if (error.code !== '55P03') throw error
    throw new Error('Another session writes to this database; end it and run the command again', { cause: error })
  })
}

async function refuseOtherColumns(source: Client, tables: readonly CopiedTable[]): Promise<void> {
  const shapes = new Map((await readTables(source)).map(({ name, shape }) => [name, shape.join()]))
  const other = tables.filter(({ name, shape }) => shapes.get(name) !== shape.join())
  if (other.length > 0) {
    throw new Error(
      `The tables of this database have other columns than this version makes (${some(other.map(({ name }) => name))})`,
    )
  }
}

/** Fills the target in one transaction; returns the number of rows. */
async function fill(source: Client, target: Client, tables: readonly CopiedTable[], say: CopyOptions['say']): Promise<number> {
  await beginAlone(target, tables)
  // One may have written since the check before.
  refuseRows(
    await readFilled(
      target,
      tables.map(({ name }) => name),
    ),
  )
  await emptyTables(target, tables)
  const restore = await dropChecks(target)
  await matchPartitions(source, target)
  let sum = 0
  for (const table of tables) {
    const rows = await copyTable(source, target, table, say)
    const stored = await countRows(target, table)
    if (stored !== rows) throw new Error(`${table.name} has ${rows} rows, and ${stored} in the target; nothing was kept`)
    sum += rows
  }
  await copySequences(source, target)
  say('checking the references between tables')
  await restore()
  await commit(target)
  return sum
}

async function matchPartitions(source: Client, target: Client): Promise<void> {
  const [wanted, present] = [await readCopiedPartitions(source), await readCopiedPartitions(target)]
  const key = ({ name, bound }: { name: string; bound: string }) => `${name} ${bound}`
  const [wantedKeys, presentKeys] = [new Set(wanted.map(key)), new Set(present.map(key))]
  await replacePartitions(target, {
    dropped: present.filter((partition) => !wantedKeys.has(key(partition))),
    added: wanted.filter((partition) => !presentKeys.has(key(partition))),
  })
}

async function copyTable(source: Client, target: Client, table: CopiedTable, say: CopyOptions['say']): Promise<number> {
  const name = table.name.replace('public.', '')
  const texts = copyTexts(table)
  let saidAt = Date.now()
  const rows = await copyRows({ client: source, text: texts.from }, { client: target, text: texts.to }, (soFar) => {
    if (Date.now() - saidAt < sayEveryMs) return
    saidAt = Date.now()
    say(`${name}: ${soFar} rows so far`)
  })
  if (rows > 0) say(`${name}: ${rows} rows`)
  return rows
}

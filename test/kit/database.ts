// Databases for tests: a clone of the migrated template for each file, or a whole server for a test that crashes it.
import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import { Client } from '../../src/core/database/client.ts'
import { openCluster } from '../../src/core/database/cluster.ts'
import { type Database, type Db, openDatabase } from '../../src/core/database/database.ts'
import { lockFile } from '../../src/core/database/files-lock.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { atEnd } from './at-end.ts'
import { ownPort } from './port.ts'
import { until } from './until.ts'

/** Creates a separate database, migrated and otherwise empty, that is dropped with the test file; returns its URL. */
export async function cloneDatabase(): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const url = new URL(inject('serverUrl'))
  // Copying the files takes a quarter of the processor time of the default, which writes each page to the log.
  const server = sql(url.href)
  await server.query(`create database ${name} template ${inject('template')} strategy file_copy`)
  atEnd('file', async () => void (await server.query(`drop database if exists ${name} with (force)`)))
  url.pathname = `/${name}`
  return url.href
}

const pools = new Map<string, pg.Pool>()

/** A connection pool on that database, one for each test file, closed with the file. */
export function sql(databaseUrl: string): pg.Pool {
  const known = pools.get(databaseUrl)
  if (known) return known
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4, application_name: 'test', Client })
  // Tests stop servers; the next query fails where that matters.
  pool.on('error', () => {})
  pools.set(databaseUrl, pool)
  atEnd('file', async () => {
    pools.delete(databaseUrl)
    await pool.end()
  })
  return pool
}

const clients = new Map<string, Database>()

/** Prisma Client on that database, one for each test file, closed with the file. */
export function prisma(databaseUrl: string): Db {
  const known = clients.get(databaseUrl)
  if (known) return known.db
  const client = openDatabase(databaseUrl, () => {}, { max: 4 })
  clients.set(databaseUrl, client)
  atEnd('file', async () => {
    clients.delete(databaseUrl)
    await client[Symbol.asyncDispose]()
  })
  return client.db
}

export interface OwnServer {
  /** The folder of its files, as DATA_DIR is. */
  dataDir: string
  url: string
  /**
   * Stops it without a clean shutdown, as a crash does (`immediate`), or closes connections and shuts down cleanly (`fast`).
   */
  stop: (how?: 'immediate' | 'fast') => Promise<void>
  /** Starts it again on the same port. */
  start: () => Promise<void>
}

/** @throws FilesInUse when a server has the files. */
function isFree(dataDir: string): true {
  using _ = lockFile(path.join(dataDir, 'postgres.lock'))
  return true
}

/** A migrated PostgreSQL server for this test alone, durable as in production, which the test may crash and restart. */
export async function ownServer(): Promise<OwnServer> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'gateway-test-own-'))
  await chmod(dataDir, 0o711)
  const cluster = await openCluster({ dataDir, password: 'test' })
  const port = await ownPort()
  const server: OwnServer = {
    dataDir,
    url: `postgres://postgres:test@127.0.0.1:${port}/postgres`,
    async stop(how = 'immediate') {
      const running = cluster.running()
      if (running) process.kill(running.pid, how === 'immediate' ? 'SIGQUIT' : 'SIGINT')
      await until(() => !cluster.running())
      // The kernel frees the lock some time after the process is gone. Another server of the files may hold it for longer.
      await until(() => isFree(dataDir), { timeoutMs: 3_000 }).catch(() => {})
    },
    start: () => cluster.start(port),
  }
  await server.start()
  atEnd('test', async () => {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  await migrate(server.url)
  return server
}

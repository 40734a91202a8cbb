// Starts one PostgreSQL server for the whole run, with a template database that every test file clones.
import { rmSync } from 'node:fs'
import { chmod, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import type { OpenApiDocument } from '../../rest-compat/openapi/document.ts'
import type { Surface } from '../../rest-compat/route.ts'
import { type Cluster, freePort, openCluster } from '../../src/core/database/cluster.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { bundleGateway } from './bundle.ts'
import { type Commons, startCommons } from './commons.ts'
import { recordShared } from './cost.ts'
import { environment, secretKey } from './environment.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the shared server, with the superuser's credentials. */
    serverUrl: string
    /** The name of the database that is cloned. */
    template: string
    /** The file that a child process runs as the gateway. */
    program: string
  }
}

const template = 'gateway_template'

interface Shared {
  serverUrl: string
  program: string
  commons: Commons
  documents: Record<Surface, OpenApiDocument> | { fault: string }
  end: () => Promise<void>
}

/**
 * Vitest runs this file once for each project, each time as a separate module instance. All projects share one server and one
 * gateway.
 */
const run = globalThis as typeof globalThis & { gatewayTests?: { shared: Promise<Shared>; projects: number } }

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  run.gatewayTests ??= { shared: start(), projects: 0 }
  const tests = run.gatewayTests
  tests.projects++
  const { serverUrl, program, commons, documents, end } = await tests.shared
  project.provide('serverUrl', serverUrl)
  project.provide('template', template)
  // Tests that measure memory or time start the same program as operators.
  project.provide('program', project.name === 'deep' ? 'src/main.ts' : program)
  project.provide('commons', commons)
  project.provide('documents', documents)
  return async () => {
    if (--tests.projects === 0) await end()
  }
}

async function start(): Promise<Shared> {
  const dataDir = await mkdtemp(path.join(await memory(), 'gateway-test-'))
  // When root runs the tests, the server runs as another user, who must be able to enter the folder.
  await chmod(dataDir, 0o711)
  const password = 'test'
  // Nothing has to survive a crash of this server; tests that crash one start their own.
  // Its time zone is not UTC, as on many an operator's server.
  const settings = {
    timezone: 'Pacific/Auckland',
    ...{ fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', wal_level: 'minimal', max_wal_senders: '0' },
    ...{ checkpoint_timeout: '1h', max_wal_size: '8GB', autovacuum_naptime: '10min' },
    ...{ max_connections: '600', jit: 'off', update_process_title: 'off' },
  }
  const bundled = bundleGateway()
  // Its failure is thrown below, where the server has started and ends with the run.
  bundled.catch(() => {})
  const cluster = await openCluster({ dataDir, password, settings })
  // It asks for no password: tests connect thousands of times, which takes 6.7 ms of processor time with one and 3.9 ms without.
  await writeFile(path.join(dataDir, 'postgres/pg_hba.conf'), 'host all all 127.0.0.1/32 trust\n')
  const port = await freePort()
  await cluster.start(port)
  const stopAtExit = () => {
    stop(cluster)
    rmSync(dataDir, { recursive: true, force: true })
  }
  process.on('exit', stopAtExit)

  const serverUrl = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  await makeTemplate(serverUrl)
  const { program, end: endBundle } = await bundled
  const { end: endCommons, ...commons } = await startCommons(program, await makeDatabase(serverUrl, 'commons', template))
  async function end(): Promise<void> {
    process.off('exit', stopAtExit)
    recordShared(commons.pid, cluster.running()?.pid as number)
    await Promise.all([endCommons(), endBundle()])
    stop(cluster)
    while (cluster.running()) await new Promise((resolve) => setTimeout(resolve, 20))
    await rm(dataDir, { recursive: true, force: true })
  }
  return { serverUrl, program, commons, documents: await makeDocuments(), end }
}

/**
 * The folder of the file system that is in memory, if it is large enough: a clone of the template has a thousand files, which a disk takes
 * five times as long to create. Containers often have 64 MB of it only.
 */
async function memory(): Promise<string> {
  const found = await statfs('/dev/shm').catch(() => undefined)
  return found && found.bavail * found.bsize > 3e9 ? '/dev/shm' : os.tmpdir()
}

/** A failure to generate the documents must not keep unrelated tests from running. */
async function makeDocuments(): Promise<Record<Surface, OpenApiDocument> | { fault: string }> {
  try {
    const { describe } = await import('./describe.ts')
    return describe()
  } catch (error) {
    return { fault: String((error as Error).stack) }
  }
}

async function makeTemplate(serverUrl: string): Promise<void> {
  const connectionString = await makeDatabase(serverUrl, template)
  await migrate(connectionString)
  // Loaded here, because the graph can be built only once, and each project loads this file.
  const [{ readConfig }, { openApp }, { createQueues }] = await Promise.all([
    import('../../src/core/config/config.ts'),
    import('../../src/app.ts'),
    import('../../src/worker.ts'),
  ])
  const { config, secrets } = readConfig({
    ...environment,
    DATABASE_URL: connectionString,
    SECRET_KEY: secretKey,
    LOG_LEVEL: 'silent',
  })
  await using app = await openApp({ config, secrets, databaseUrl: connectionString })
  await app.boss.start()
  await createQueues(app)
}

/** Creates a database, from the template `of` if given; returns its URL. */
async function makeDatabase(serverUrl: string, name: string, of = 'template1'): Promise<string> {
  const server = new pg.Client({ connectionString: serverUrl })
  await server.connect()
  await server.query(`create database ${name} template ${of} strategy file_copy`)
  await server.end()
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Stops with SIGQUIT, because no data has to be kept. */
function stop(cluster: Cluster): void {
  const server = cluster.running()
  if (server) process.kill(server.pid, 'SIGQUIT')
}

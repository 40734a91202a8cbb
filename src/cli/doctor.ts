// Checks everything that a gateway depends on, and says in words what is wrong.
import type pg from 'pg'
import { pendingMigrations } from '../core/database/migrate.ts'
import { readOldestTransaction } from '../core/database/old-transactions.sql.ts'
import { checkOldest } from '../core/database/old-transactions.ts'
import { adviseOnSettings } from '../core/database/pooler.ts'
import { readServer } from '../core/database/server.sql.ts'
import { withPool } from '../core/database/short-pool.ts'
import { countDead, hasJobTables } from '../core/jobs/queues.sql.ts'
import { oneLine } from '../core/one-line.ts'
import { sentenceOf } from '../core/sentence.ts'
import type { Installation } from './command-database.ts'
import { countInstances, readClock } from './doctor.sql.ts'
import { surroundings } from './doctor-around.ts'
import { withNetworks } from './doctor-networks.ts'
import { countUnderPrevious, type Keys } from './reseal.ts'
import { foreignKey, opensStored } from './stored-secrets.ts'

/** Throws a sentence when something is wrong, else returns one. */
type Check = (pool: pg.Pool, keys: Keys) => Promise<string>

/** Largest tolerated difference of the clocks: the shortest time that the API contract promises is one second. */
const clockToleranceMs = 1_000

const checks: Record<string, Check> = {
  database: async (pool) => {
    const { version, fault } = await readServer(pool)
    if (fault) throw new Error(fault)
    return `PostgreSQL ${version} answers`
  },
  clock: async (pool) => {
    const before = Date.now()
    const now = await readClock(pool)
    const offsetMs = Math.round((before + Date.now()) / 2 - now.getTime())
    const said = `${Math.abs(offsetMs)} ms ${offsetMs > 0 ? 'ahead of' : 'behind'} the database clock`
    if (Math.abs(offsetMs) > clockToleranceMs) throw new Error(`this machine's clock is ${said}; synchronise both (NTP)`)
    return `this machine's clock is ${said}`
  },
  migrations: async (pool) => {
    const pending = await pendingMigrations(pool)
    if (pending.length > 0) throw new Error(`${pending.join(', ')} not applied yet; start the gateway or run \`gateway migrate\``)
    return 'all applied'
  },
  transactions: async (pool) => checkOldest(await readOldestTransaction(pool)),
  jobs: async (pool) => {
    if (!(await hasJobTables(pool)))
      throw new Error('the job queue is not installed yet; start the gateway or run `gateway migrate`')
    const dead = await countDead(pool)
    const failed = dead.map(({ queue, n }) => `${n} of ${queue}`).join(', ')
    return dead.length > 0
      ? `the queue is installed; failed permanently in the last 14 days (see the log): ${failed}`
      : 'the queue is installed'
  },
  secretKey: async (pool, keys) => {
    const opens = await opensStored(pool, keys.secretKey, keys.previous)
    if (opens === false) throw new Error(foreignKey)
    const left = keys.previous ? await countUnderPrevious(pool, keys) : 0
    if (left > 0) return `${left} stored secrets are under SECRET_KEY_PREVIOUS; run \`gateway reseal\``
    return opens ? 'opens the stored secrets' : 'set; no secrets are stored yet'
  },
  providers: async (pool) => {
    const rows = await countInstances(pool)
    return rows.map((row) => `${row.provider}: ${row.count} ${row.status}`).join(', ') || 'no instances yet'
  },
}

async function checkPooler(url: string): Promise<string> {
  const advice = await adviseOnSettings(url)
  if (advice) throw new Error(advice)
  return 'connections through DATABASE_URL have their settings'
}

/** Runs every check, prints one line for each, and returns true if all pass. The configuration must have been read before. */
export async function doctor(installation: Installation, say: (line: string) => void): Promise<boolean> {
  const { config, secrets, url, secretKey } = installation
  let healthy = true
  async function look(name: string, check: () => Promise<string>): Promise<boolean> {
    try {
      say(`ok     ${name}: ${oneLine(await check())}`)
      return true
    } catch (error) {
      healthy = false
      say(`wrong  ${name}: ${oneLine(sentenceOf(error))}`)
      return false
    }
  }
  say('ok     configuration: valid')
  let migrated = true
  await withPool(config.databaseDirectUrl ?? url, { max: 1, connectionTimeoutMillis: 5_000 }, async (pool) => {
    for (const [name, check] of Object.entries(checks)) {
      const isWell = await look(name, () => check(pool, { secretKey, previous: secrets.previousSecretKey }))
      // Every later check of the database would report the same fault.
      migrated = isWell || (name !== 'database' && name !== 'migrations')
      if (!migrated) break
    }
  })
  if (config.databaseDirectUrl) await look('pooler', () => checkPooler(url))
  for (const [name, check] of Object.entries(surroundings)) await look(name, () => check(installation))
  if (migrated) {
    await withNetworks(installation, async (numbers, left) => {
      for (const { provider, check } of numbers) await look(provider, check)
      if (left > 0) say(`ok     networks: ${left} more connected numbers were not asked`)
    })
  }
  return healthy
}

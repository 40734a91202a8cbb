// The reads and transactions of one account leave connections to the database for those of others.
import type pg from 'pg'
import { expect, it } from 'vitest'
import { openDatabase } from '../../src/core/database/database.ts'
import { transaction } from '../../src/core/database/transaction.ts'
import { codeOf } from '../../src/core/errors.ts'
import { Budget, wholeBudget, withBudget } from '../../src/core/graph/budget.ts'
import { newId } from '../../src/core/id.ts'
import { createAccount } from '../kit/accounts.ts'
import { type Answer, api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { upload } from '../media/rig.ts'

/** Runs `work` while another connection holds a lock on a table. */
async function whileLocked(pool: pg.Pool, lock: string, work: () => Promise<void>): Promise<void> {
  const holder = await pool.connect()
  try {
    await holder.query('begin')
    await holder.query(`lock table ${lock} mode`)
    await work()
    await holder.query('commit')
  } finally {
    holder.release(true)
  }
}

const lockWaits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

const fields = Array.from({ length: 14 }, (_, i) => `t${i}: templates { id }`).join(' ')
const ofOthers = {
  read: ['{ contacts { nodes { id } } }', { contacts: { nodes: [] } }],
  write: [
    'mutation { createTemplate(input: { name: "Hello", type: text, body: "Hello" }) { name } }',
    { createTemplate: { name: 'Hello' } },
  ],
} as const

it.each([
  ['reads', 'templates in access exclusive', [`{ ${fields} }`], ofOthers.read],
  [
    'transactions',
    'contacts in share row exclusive',
    Array.from(
      { length: 14 },
      (_, n) => `mutation { createContact(input: { name: "Ada", phone: "+49151100000${10 + n}" }) { name } }`,
    ),
    ofOthers.write,
  ],
] as const)(
  'answers others while fourteen %s of one account wait for the database',
  async (_, lock, documents, [document, data]) => {
    const databaseUrl = await cloneDatabase()
    const gateway = await openGateway({ databaseUrl, env: { RATE_LIMIT_PER_SECOND: '1000' } })
    const [slow, other] = await Promise.all([createAccount(databaseUrl), createAccount(databaseUrl)])
    const pool = sql(databaseUrl)
    let slowly: Promise<Answer>[] = []
    await whileLocked(pool, lock, async () => {
      slowly = documents.map((one) => api(gateway, slow.apiKey).graphql(one))
      await until(async () => ((await pool.query(lockWaits)).rowCount ?? 0) >= 3)
      expect((await api(gateway, other.apiKey).graphql(document)).body).toEqual({ data })
      expect((await pool.query(lockWaits)).rowCount).toBe(3)
    })
    for (const { body } of await Promise.all(slowly)) {
      expect(body.errors).toBeUndefined()
      expect(Object.keys(body.data).length).toBe(documents.length === 1 ? 14 : 1)
    }
  },
)

it('answers others while fourteen files that one account uploads wait for the database', async () => {
  const databaseUrl = await cloneDatabase()
  const gateway = await openGateway({ databaseUrl, env: { RATE_LIMIT_PER_SECOND: '1000', ROLES: 'http' } })
  const [slow, other] = await Promise.all([createAccount(databaseUrl), createAccount(databaseUrl)])
  const pool = sql(databaseUrl)
  let uploads: Promise<Answer>[] = []
  await whileLocked(pool, 'media in share row exclusive', async () => {
    uploads = Array.from({ length: 14 }, (_, n) => upload(gateway, slow.apiKey, `file ${n}`))
    await until(async () => ((await pool.query(lockWaits)).rowCount ?? 0) >= 3)
    const [document, data] = ofOthers.write
    expect((await api(gateway, other.apiKey).graphql(document)).body).toEqual({ data })
    expect((await pool.query(lockWaits)).rowCount).toBe(3)
  })
  for (const { status } of await Promise.all(uploads)) expect(status).toBe(201)
})

it('refuses reads and transactions of an account of which a thousand wait, as too many requests', async () => {
  const databaseUrl = await cloneDatabase()
  await using database = openDatabase(databaseUrl, () => {})
  const { db } = database
  const waiting: Promise<PromiseSettledResult<number>[]>[] = []
  await whileLocked(sql(databaseUrl), 'templates in access exclusive', async () => {
    // Prisma runs a read only once it is awaited, which must happen on the budget.
    for (const read of [async () => await db.template.count(), () => transaction(db, (tx) => tx.db.template.count())]) {
      const payer = new Budget(wholeBudget, newId())
      waiting.push(Promise.allSettled(Array.from({ length: 1_003 }, () => withBudget(payer, read))))
      const further = await withBudget(payer, read).catch((error: unknown) => error)
      expect(codeOf(further)).toBe('API_RATE_LIMIT_EXCEEDED')
    }
  })
  for (const all of waiting) expect((await all).map(({ status }) => status)).toEqual(Array(1_003).fill('fulfilled'))
})

// Accounts and keys are created in full or not at all, and secrets are stored only as digests.
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { createApiKey, revokeApiKey } from '../../src/accounts/keys/api-keys.ts'
import { keepMailToken, newMailToken, type Purpose } from '../../src/accounts/mail/tokens.ts'
import { openAccount } from '../../src/accounts/open-account.ts'
import { createAccount, listAccounts } from '../../src/accounts/service.ts'
import { pruneUnproved } from '../../src/accounts/sign-in/prune-unproved.ts'
import { setPlan } from '../../src/billing/service.ts'
import { transaction } from '../../src/core/database/transaction.ts'
import { newId } from '../../src/core/id.ts'
import { cloneDatabase, prisma, sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'

let url: string
const pool = () => sql(url)
const db = () => prisma(url)
beforeAll(async () => {
  url = await cloneDatabase()
})

async function count(table: string): Promise<number> {
  const { rows } = await pool().query(`select count(*)::int as n from ${table}`)
  return rows[0].n
}

describe('createAccount', () => {
  it('creates a verified user, a workspace, a subscription for this calendar month and a key', async () => {
    const account = await createAccount(db(), { email: 'Ada@Example.com', name: 'Ada', plan: 'pro', password: 'long enough' })
    expect(Object.keys(account)).toEqual(['userId', 'workspaceId', 'email', 'apiKey'])
    expect(account.email).toBe('ada@example.com')
    const { rows } = await pool().query(
      `select u."emailVerified", a.password as "passwordHash", w.id as "workspaceId", s.plan, s.status, s."currentPeriodStart" as start, s."currentPeriodEnd" as end
        from users u join auth_accounts a on a."userId" = u.id join workspaces w on w."ownerId" = u.id join subscriptions s on s."userId" = u.id where u.id = $1`,
      [account.userId],
    )
    const now = new Date()
    expect(rows).toEqual([
      {
        emailVerified: true,
        passwordHash: expect.stringContaining('$argon2id$'),
        workspaceId: account.workspaceId,
        plan: 'pro',
        status: 'active',
        start: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())),
        end: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)),
      },
    ])
  })

  it('stores only a digest of the key', async () => {
    const { apiKey, userId } = await createAccount(db(), { email: 'digest@example.com', name: 'D', plan: 'free' })
    expect(apiKey).toMatch(/^svc_live_[0-9a-f]{64}$/)
    const { rows } = await pool().query('select prefix, hash, to_jsonb(k)::text as row from api_keys k where "userId" = $1', [
      userId,
    ])
    expect(rows[0].prefix).toBe(apiKey.slice(0, 16))
    expect(rows[0].hash).toEqual(createHash('sha256').update(apiKey).digest())
    expect(rows[0].row).not.toContain(apiKey.slice(20))
  })

  it('refuses a taken address in any letter case, and leaves nothing behind', async () => {
    await createAccount(db(), { email: 'twice@example.com', name: 'A', plan: 'free' })
    const before = [await count('users'), await count('workspaces'), await count('api_keys')]
    await expect(createAccount(db(), { email: 'TWICE@example.com', name: 'B', plan: 'free' })).rejects.toMatchObject({
      extensions: { code: 'CONFLICT' },
    })
    expect([await count('users'), await count('workspaces'), await count('api_keys')]).toEqual(before)
  })

  it('names every invalid field', async () => {
    await expect(createAccount(db(), { email: 'nobody', name: '', plan: 'free', password: 'short' })).rejects.toThrow(
      /^email: .*; name: .*; password: /,
    )
  })
})

describe('keys', () => {
  it('belong to the personal workspace', async () => {
    const account = await createAccount(db(), { email: 'keys@example.com', name: 'K', plan: 'pro' })
    const key = await createApiKey(db(), { email: 'Keys@example.com', name: 'second' })
    const { rows } = await pool().query('select "workspaceId", "teamId", name from api_keys where id = $1', [key.id])
    expect(rows).toEqual([{ workspaceId: account.workspaceId, teamId: null, name: 'second' }])
  })

  it('keep the time of their first revocation', async () => {
    await createAccount(db(), { email: 'revoke@example.com', name: 'R', plan: 'pro' })
    const { id } = await createApiKey(db(), { email: 'revoke@example.com', name: 'gone' })
    const revokedAt = async () => (await pool().query('select "revokedAt" from api_keys where id = $1', [id])).rows[0].revokedAt
    await revokeApiKey(db(), id)
    const first = await revokedAt()
    await revokeApiKey(db(), id.toUpperCase())
    expect(first).toBeInstanceOf(Date)
    expect(await revokedAt()).toEqual(first)
  })

  it('give NOT_FOUND for an unknown key or account', async () => {
    await expect(revokeApiKey(db(), 'nonsense')).rejects.toMatchObject({ extensions: { code: 'NOT_FOUND' } })
    await expect(createApiKey(db(), { email: 'none@example.com', name: 'x' })).rejects.toMatchObject({
      extensions: { code: 'NOT_FOUND' },
    })
  })
})

it('sets the plan of an account and makes its subscription active again', async () => {
  const { userId } = await createAccount(db(), { email: 'plan@example.com', name: 'P', plan: 'free' })
  await pool().query(`update subscriptions set status = 'inactive', "cancelAtPeriodEnd" = true where "userId" = $1`, [userId])
  await setPlan(db(), { email: 'plan@example.com', plan: 'max' })
  const { rows } = await pool().query('select plan, status, "cancelAtPeriodEnd" from subscriptions where "userId" = $1', [userId])
  expect(rows).toEqual([{ plan: 'max', status: 'active', cancelAtPeriodEnd: false }])
  expect((await listAccounts(db())).at(-1)).toMatchObject({ userId, email: 'plan@example.com', plan: 'max' })
})

describe('an account whose address was never verified', () => {
  /** Inserts an account, by default eight days old and unverified; returns the id of its user. */
  async function unproved({ days = 8, verified = false } = {}): Promise<string> {
    const id = newId()
    await pool().query(
      `insert into users (id, email, name, "emailVerified", "createdAt") values ($1, $2, 'Un', $3, now() - make_interval(days => $4))`,
      [id, `${id}@example.com`, verified, days],
    )
    await openAccount(db(), id)
    return id
  }
  const mail = (purpose: Purpose, id: string) => transaction(db(), (tx) => keepMailToken(tx, purpose, newMailToken(), id))
  const isThere = async (id: string) => (await pool().query('select from users where id = $1', [id])).rowCount === 1

  it('is deleted after a week with all its records, and frees its address', async () => {
    const id = await unproved()
    await pool().query(
      `insert into auth_accounts (id, "userId", "providerId", "accountId", password) values ($1, $2::uuid, 'credential', $2::text, 'x')`,
      [newId(), id],
    )
    await mail('verify-email', id)
    await pool().query(`update auth_verifications set "expiresAt" = now() - interval '1 second'`)
    // A user row without workspace and subscription is deleted too.
    const half = newId()
    await pool().query(`insert into users (id, email, name, "createdAt") values ($1, $2, 'Half', now() - interval '8 days')`, [
      half,
      `${half}@example.com`,
    ])
    expect(await pruneUnproved(db())).toBe(2)
    for (const gone of [id, half]) expect(await isThere(gone)).toBe(false)
    for (const [table, owner] of [
      ['workspaces', 'ownerId'],
      ['subscriptions', 'userId'],
      ['auth_accounts', 'userId'],
    ])
      expect((await pool().query(`select from ${table} where "${owner}" = $1`, [id])).rowCount).toBe(0)
    await createAccount(db(), { email: `${id}@example.com`, name: 'Ada', plan: 'free' })
  })

  it('stays if it is younger, verified, has had a session, or owns anything', async () => {
    const [young, proved, inside, keyed, owning] = [
      await unproved({ days: 6 }),
      await unproved({ verified: true }),
      await unproved(),
      await unproved(),
      await unproved(),
    ]
    await pool().query(`insert into auth_sessions (id, token, "userId", "expiresAt") values ($1, 'a token', $2, now())`, [
      newId(),
      inside,
    ])
    await createApiKey(db(), { email: `${keyed}@example.com`, name: 'key' })
    await pool().query(
      `insert into contact_groups (id, "workspaceId", name) select $1, id, 'Group' from workspaces where "ownerId" = $2`,
      [newId(), owning],
    )
    expect(await pruneUnproved(db())).toBe(0)
    for (const id of [young, proved, inside, keyed, owning]) expect(await isThere(id)).toBe(true)
    expect((await pool().query('select from workspaces where "ownerId" = $1', [owning])).rowCount).toBe(1)
  })

  it('stays while the link of a mail works, also of a mail that is ordered in the meantime', async () => {
    const [verifying, resetting, meanwhile] = [await unproved(), await unproved(), await unproved()]
    await mail('verify-email', verifying)
    await mail('reset-password', resetting)
    const held: [string, string] = ['select from users where id = $1 for no key update', meanwhile]
    const order = `insert into auth_verifications (id, identifier, value, "expiresAt") values ($1, 'digest', $2, now() + interval '1 day')`
    const deleted = await whileHeld(url, held, [() => pruneUnproved(db())], [order, newId(), `verify-email:${meanwhile}`])
    expect(deleted).toEqual([0])
    for (const id of [verifying, resetting, meanwhile]) expect(await isThere(id)).toBe(true)
  })
})

// SQL of Idempotency-Keys. The primary key of `idempotency_keys` is workspace and key.
import { type Sql, timeLimits } from '../database/database.ts'

/** Hours that a key is stored, with its result. */
export const keptHours = 72

export interface KeyClaim {
  workspaceId: string
  key: string
  fingerprint: Buffer
}

interface StoredKey {
  workspaceId: string
  key: string
  fingerprint: Buffer
  result: Buffer | null
}

/**
 * Inserts keys, or takes over those that have expired. Returns the keys that are claimed now. Waits for another transaction that has inserted one
 * of them, `waitMs` or else as long as the connection waits for locks; claims must be in the order of their names, which prevents deadlocks.
 */
export async function insertKeys(
  tx: Sql,
  claims: readonly KeyClaim[],
  waitMs?: number,
): Promise<Pick<StoredKey, 'workspaceId' | 'key'>[]> {
  // The three statements share a round trip. If the second one fails, so does the third one, after it.
  const before = waitMs === undefined ? undefined : tx.query(`set local lock_timeout to ${waitMs}`)
  const inserted = tx.query<Pick<StoredKey, 'workspaceId' | 'key'>>(
    `insert into idempotency_keys as k ("workspaceId", key, fingerprint)
     select * from unnest($1::uuid[], $2::text[], $3::bytea[])
     on conflict ("workspaceId", key) do update set fingerprint = excluded.fingerprint, result = null, "createdAt" = now()
       where k."createdAt" < now() - make_interval(hours => $4)
     returning "workspaceId", key`,
    [
      claims.map(({ workspaceId }) => workspaceId),
      claims.map(({ key }) => key),
      claims.map(({ fingerprint }) => fingerprint),
      keptHours,
    ],
  )
  // Not to the default, which is none in a session whose limits a pooler has set.
  const after = waitMs === undefined ? undefined : tx.query(`set local lock_timeout to ${timeLimits.lock_timeout}`)
  const [{ rows }] = await Promise.all([inserted, before, after])
  return rows
}

/** The stored keys among `claims` that have not expired. */
export async function readKeys(sql: Sql, claims: readonly KeyClaim[]): Promise<StoredKey[]> {
  const { rows } = await sql.query<StoredKey>(
    `select k."workspaceId", k.key, k.fingerprint, k.result from idempotency_keys k
     join unnest($1::uuid[], $2::text[]) as u(w, key) on k."workspaceId" = u.w and k.key = u.key
     where k."createdAt" >= now() - make_interval(hours => $3)`,
    [claims.map(({ workspaceId }) => workspaceId), claims.map(({ key }) => key), keptHours],
  )
  return rows
}

/** A stored result, with the time of its claim. */
interface ReadResult {
  key: string
  createdAt: Date
  result: Buffer
}

/** The first `limit` results of the workspace whose keys follow `after` and have not expired (primary key). */
export async function readResults(sql: Sql, workspaceId: string, after: string, limit: number): Promise<ReadResult[]> {
  const { rows } = await sql.query<ReadResult>(
    `select key, "createdAt", result from idempotency_keys where "workspaceId" = $1 and key > $2 and result is not null
       and "createdAt" >= now() - make_interval(hours => $4) order by key limit $3`,
    [workspaceId, after, limit, keptHours],
  )
  return rows
}

/**
 * Stores `result` under keys of the workspace whose claim is still of that time (fencing token). They are locked in the order of their names, as
 * {@link insertKeys} locks them, which prevents deadlocks.
 */
export async function replaceResults(
  sql: Sql,
  workspaceId: string,
  keys: readonly Pick<ReadResult, 'key' | 'createdAt'>[],
  result: Buffer,
): Promise<void> {
  await sql.query(
    `with u as materialized (
       select k.key from idempotency_keys k join unnest($2::text[], $3::timestamptz[]) as u(key, at) on k.key = u.key and k."createdAt" = u.at
       where k."workspaceId" = $1 order by k.key collate "C" for no key update of k)
     update idempotency_keys k set result = $4 from u where k."workspaceId" = $1 and k.key = u.key`,
    [workspaceId, keys.map(({ key }) => key), keys.map(({ createdAt }) => createdAt), result],
  )
}

/** Returns the workspaces that have stored keys (primary key). */
export async function withStoredKeys(sql: Sql, workspaceIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    'select id from unnest($1::uuid[]) id where exists (select from idempotency_keys k where k."workspaceId" = id)',
    [workspaceIds],
  )
  return rows.map(({ id }) => id)
}

/** Stores the results of claimed keys. */
export async function storeResults(
  tx: Sql,
  results: readonly Pick<StoredKey, 'workspaceId' | 'key' | 'result'>[],
): Promise<void> {
  await tx.query(
    `update idempotency_keys k set result = u.result from unnest($1::uuid[], $2::text[], $3::bytea[]) as u(w, key, result)
     where k."workspaceId" = u.w and k.key = u.key`,
    [results.map(({ workspaceId }) => workspaceId), results.map(({ key }) => key), results.map(({ result }) => result)],
  )
}

/**
 * Sets the time of a claim without a result to the present, always (`isOurs`) or if it is older than `seconds`. Returns that time, null
 * if nothing was changed.
 */
export async function renewClaim(
  tx: Sql,
  { workspaceId, key }: KeyClaim,
  isOurs: boolean,
  seconds: number,
): Promise<Date | null> {
  const { rows } = await tx.query<{ createdAt: Date }>(
    `update idempotency_keys set "createdAt" = now() where "workspaceId" = $1 and key = $2 and result is null
       and ($3 or "createdAt" <= now() - make_interval(secs => $4)) returning "createdAt"`,
    [workspaceId, key, isOurs, seconds],
  )
  return rows[0]?.createdAt ?? null
}

/** Deletes a claim without a result, if its time is still `at` (fencing token). */
export async function deleteClaim(sql: Sql, { workspaceId, key }: KeyClaim, at: Date): Promise<void> {
  await sql.query(`delete from idempotency_keys where "workspaceId" = $1 and key = $2 and result is null and "createdAt" = $3`, [
    workspaceId,
    key,
    at,
  ])
}

/** Lets a claim without a result count as interrupted, if its time is still `at` (fencing token). */
export async function expireClaim(sql: Sql, { workspaceId, key }: KeyClaim, at: Date, seconds: number): Promise<void> {
  await sql.query(
    `update idempotency_keys set "createdAt" = now() - make_interval(secs => $4)
     where "workspaceId" = $1 and key = $2 and result is null and "createdAt" = $3`,
    [workspaceId, key, at, seconds],
  )
}

/** Deletes claims without a result, in the transaction that made them. */
export async function releaseKeys(tx: Sql, claims: readonly KeyClaim[]): Promise<void> {
  if (claims.length === 0) return
  await tx.query(
    `delete from idempotency_keys k using unnest($1::uuid[], $2::text[]) as u(w, key)
     where k."workspaceId" = u.w and k.key = u.key and k.result is null`,
    [claims.map(({ workspaceId }) => workspaceId), claims.map(({ key }) => key)],
  )
}

// Idempotency-Key: a repeated request gets the stored result and is not executed again. Key, changes and result commit together.
import { createHash, type Hash } from 'node:crypto'
import { deserialize, serialize } from 'node:v8'
import type { App } from '../app.ts'
import type { Context, Idempotency } from '../context.ts'
import type { Sql } from '../database/database.ts'
import { sqlTransaction, type Tx, transaction } from '../database/transaction.ts'
import { codeOf, type ErrorCode, errors, fail, failure, type Issue, issuesOf } from '../errors.ts'
import { insertKeys, type KeyClaim, readKeys, storeResults } from './keys.sql.ts'

export type Kept = { ok: true; value: unknown } | { ok: false; code: ErrorCode; message: string; issues?: Issue[] }

/**
 * The key that a request claims. For a person, the fingerprint includes the user, so that the key works only for its first user:
 * not every member of a team may see the same data.
 */
export function claimOf({ principal }: Pick<Context, 'principal'>, { key, fingerprint }: Idempotency): KeyClaim {
  const { workspaceId, kind, userId } = principal
  if (kind !== 'console') return { workspaceId, key, fingerprint }
  return { workspaceId, key, fingerprint: createHash('sha256').update(fingerprint).update(userId).digest() }
}

const keyForm = /^[\x20-\x7e]{1,255}$/
const keyRule = 'must be 1 to 255 printable ASCII characters'

interface Addressed {
  method: string
  url: string
}

/** Fingerprint of a request with an `Idempotency-Key`: requests with the same method, URL and bytes are the same. */
export function fingerprintOf({ method, url }: Addressed, bytes: Uint8Array): Buffer {
  return fingerprinting({ method, url }).update(bytes).digest()
}

/** A fingerprint whose bytes are added later. A path with a trailing slash is the same route. */
export function fingerprinting({ method, url }: Addressed): Hash {
  return createHash('sha256').update(`${method} ${url.replace(/^([^?]+)\/(?=\?|$)/, '$1')}\n`)
}

/**
 * Reads the `Idempotency-Key` of a request; null without one. @throws VALIDATION_ERROR when the key is not 1 to 255 printable
 * ASCII characters.
 */
export function idempotencyOf(
  request: Addressed & { headers: Record<string, unknown> },
  fingerprint: Buffer | null,
): Idempotency | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !keyForm.test(key)) fail('VALIDATION_ERROR', `Idempotency-Key: ${keyRule}`)
  return { key, fingerprint: fingerprint ?? fingerprinting(request).digest(), replayed: false }
}

/**
 * Sets the Idempotency-Key of a GraphQL mutation from its `idempotencyKey`, unless the whole request carries one already. The
 * context keeps it, so that a refusal is stored under it too. @throws VALIDATION_ERROR when the key is malformed.
 */
export function keyed(ctx: Context, field: string, input: { idempotencyKey?: string | null }): Context {
  if (ctx.idempotency || input.idempotencyKey == null) return ctx
  const { idempotencyKey: key, ...rest } = input
  if (!keyForm.test(key)) fail('VALIDATION_ERROR', `idempotencyKey: ${keyRule}`)
  const fingerprint = createHash('sha256')
    .update(`${field}\n${stable(rest)}`)
    .digest()
  ctx.idempotency = { key, fingerprint, replayed: false }
  return ctx
}

function stable(value: unknown): string {
  return JSON.stringify(value, (_, v: unknown) =>
    v && typeof v === 'object' && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  )
}

/** Runs a mutation in one transaction, or returns the stored result of the same Idempotency-Key. */
export async function write<T>(ctx: Context, work: (tx: Tx) => Promise<T>): Promise<T> {
  const value = await writeOnce(ctx, work)
  // The relay would find the events of the change by itself, up to 2 s later.
  ctx.app.signals.emit('outbox')
  return value
}

async function writeOnce<T>(ctx: Context, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { app, idempotency } = ctx
  if (!idempotency) return await transaction(app.db, work)
  return await transaction(app.db, async (tx) => {
    const claim = claimOf(ctx, idempotency)
    const [kept] = await claimKeys(app, tx, [claim])
    if (kept) return replay<T>(idempotency, kept)
    const value = await work(tx)
    await keepResults(app, tx, [{ ...claim, value }])
    return value
  })
}

/**
 * Runs work that commits in pieces, each piece under its own key. The request's key is claimed before, so that nothing else can
 * use it, and its result is stored afterwards. If the process dies in between, the same request continues the work.
 */
export async function writeInPieces<T>(ctx: Context, work: () => Promise<T>, isFinal: (value: T) => boolean): Promise<T> {
  const { app, idempotency } = ctx
  if (!idempotency) return await work()
  const claim = claimOf(ctx, idempotency)
  const before = await sqlTransaction(app.pool, async (tx) => (await claimKeys(app, tx, [claim]))[0])
  if (before && !isOpen(before)) return replay<T>(idempotency, before)
  idempotency.inPieces = true
  const value = await work()
  if (!isFinal(value)) return value
  return await sqlTransaction(app.pool, async (tx) => {
    const [kept] = await claimKeys(app, tx, [claim])
    if (kept && !isOpen(kept)) return replay<T>(idempotency, kept)
    await keepResults(app, tx, [{ ...claim, value }])
    return value
  })
}

/**
 * Runs work that validates its request before it checks the Idempotency-Key. If it refuses a request that was accepted before,
 * the stored result is returned: a time that was in the future then may have passed.
 */
export async function replayIfInvalid<T>(ctx: Context, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const [before] = codeOf(error) === 'VALIDATION_ERROR' ? await acceptedBefore<T>([ctx]) : []
    if (before) return before
    throw error
  }
}

/** Returns the stored values of the same requests, null for those without one or without a key. */
export async function acceptedBefore<T>(requests: readonly Context[]): Promise<(T | null)[]> {
  const asked = requests.filter(({ idempotency }) => idempotency)
  const [first] = asked
  if (!first) return requests.map(() => null)
  const claims = asked.map((ctx) => claimOf(ctx, ctx.idempotency as Idempotency))
  const found = await findKeys(first.app, first.app.pool, claims)
  const keptOf = new Map(asked.map((ctx, i) => [ctx, found[i]]))
  return requests.map((ctx) => {
    const kept = keptOf.get(ctx)
    return kept && 'ok' in kept && kept.ok ? replay<T>(ctx.idempotency as Idempotency, kept) : null
  })
}

/** True if the same request has claimed the key and has no result yet. */
export function isOpen(kept: Kept | Error): boolean {
  return kept instanceof Error && codeOf(kept) === 'IDEMPOTENCY_IN_PROGRESS'
}

/** Returns the stored value. @throws GraphQLError when a failure is stored. */
export function replay<T>(idempotency: Idempotency, kept: Kept | Error): T {
  if (kept instanceof Error) throw kept
  idempotency.replayed = true
  if (!kept.ok) throw failure(kept.code, kept.message, kept.issues)
  return kept.value as T
}

/**
 * Claims keys for the transaction `tx`, in the order of their names, so that two groups cannot deadlock. Returns for each key:
 * null if it is claimed by this call, the stored result, or an Error if it was used for another request or is in progress.
 * @throws IDEMPOTENCY_IN_PROGRESS when another transaction holds a key for longer than `waitMs`, or else than the lock timeout.
 */
export async function claimKeys(
  app: App,
  tx: Sql,
  claims: readonly KeyClaim[],
  waitMs?: number,
): Promise<(Kept | Error | null)[]> {
  const inOrder = [...claims].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const taken = await insertKeys(tx, inOrder, waitMs).catch((error: { code?: string }) =>
    error.code === '55P03' ? fail('IDEMPOTENCY_IN_PROGRESS') : Promise.reject(error),
  )
  const ours = new Set(taken.map(nameOf))
  if (ours.size === claims.length) return claims.map(() => null)
  const found = await findKeys(app, tx, claims)
  return claims.map((claim, i) => (ours.has(nameOf(claim)) ? null : (found[i] ?? failure('IDEMPOTENCY_IN_PROGRESS'))))
}

/**
 * Returns the results stored under keys that have not expired: the result, an Error if the key was used for another request or is
 * in progress, or null if nothing is stored.
 */
async function findKeys(app: App, sql: Sql, claims: readonly KeyClaim[]): Promise<(Kept | Error | null)[]> {
  const rows = new Map((await readKeys(sql, claims)).map((row) => [nameOf(row), row]))
  return claims.map((claim) => {
    const row = rows.get(nameOf(claim))
    if (!row) return null
    if (!row.fingerprint.equals(claim.fingerprint)) return failure('IDEMPOTENCY_KEY_REUSED')
    return row.result ? (deserialize(app.sealer.open(row.result)) as Kept) : failure('IDEMPOTENCY_IN_PROGRESS')
  })
}

/** Identifies a key among those of all workspaces, because keys are unique within their workspace only. */
export function nameOf({ workspaceId, key }: Pick<KeyClaim, 'workspaceId' | 'key'>): string {
  return `${workspaceId} ${key}`
}

/** Stores the results of claimed keys, in the transaction that made the changes. */
export async function keepResults(app: App, tx: Sql, results: readonly (KeyClaim & { value: unknown })[]): Promise<void> {
  const kept = results.map(({ value, ...claim }) => ({ ...claim, kept: { ok: true, value } as const }))
  await keep(app, tx, kept)
}

async function keep(app: App, tx: Sql, entries: readonly (KeyClaim & { kept: Kept })[]): Promise<void> {
  await storeResults(
    tx,
    entries.map(({ workspaceId, key, kept }) => ({ workspaceId, key, result: app.sealer.seal(serialize(kept)) })),
  )
}

/**
 * Stores a refusal under the request's key. 5xx and 429 are not stored, so that a retry can succeed. Returns the error to send,
 * which is another one if the key was used before.
 */
export async function keepFailure(ctx: Context, error: Error): Promise<Error> {
  const { app, idempotency } = ctx
  const code = codeOf(error)
  if (!idempotency || idempotency.replayed || !code || code.startsWith('IDEMPOTENCY_')) return error
  const { status } = errors[code]
  if (status >= 500 || status === 429) return error
  return await sqlTransaction(app.pool, async (tx) => {
    const claim = claimOf(ctx, idempotency)
    const [kept] = await claimKeys(app, tx, [claim])
    if (kept instanceof Error) {
      if (!isOpen(kept)) return kept
      // The same request is still running elsewhere.
      if (!idempotency.inPieces) return error
    } else if (kept?.ok) {
      // The same request succeeded elsewhere. This error is the result of this attempt, and must not be replaced by that success.
      return error
    } else if (kept) {
      idempotency.replayed = true
      return failure(kept.code, kept.message, kept.issues)
    }
    await keep(app, tx, [{ ...claim, kept: { ok: false, code, message: error.message, issues: issuesOf(error) } }])
    return error
  })
}

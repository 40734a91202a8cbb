// A repeated request is answered again, not done again: the key, what it did and its answer commit together.
import { createHash, type Hash } from 'node:crypto'
import { deserialize, serialize } from 'node:v8'
import type { App } from '../app.ts'
import type { Context, Idempotency } from '../context.ts'
import { type Sql, transaction } from '../database/database.ts'
import { codeOf, type ErrorCode, errors, fail, failure } from '../errors.ts'

/** How long a key is kept. */
export const keptHours = 72

export type Kept = { ok: true; value: unknown } | { ok: false; code: ErrorCode; message: string }

export interface KeyClaim {
  workspaceId: string
  key: string
  fingerprint: Buffer
}

/** What a request claims. Of people, a key answers only to whoever used it first: in a team not all may see the same. */
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

/** What tells requests apart that come with an `Idempotency-Key`: the same bytes to the same address are the same. */
export function fingerprintOf({ method, url }: Addressed, bytes: Uint8Array): Buffer {
  return fingerprinting({ method, url }).update(bytes).digest()
}

/** A fingerprint whose bytes are yet to come. */
export function fingerprinting({ method, url }: Addressed): Hash {
  return createHash('sha256').update(`${method} ${url}\n`)
}

/** The promise of a request's `Idempotency-Key`, null without one. @throws VALIDATION_ERROR. */
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
 * The promise of a GraphQL mutation: its `idempotencyKey`, unless the request as a whole carries one already. It is the
 * context's from then on, so that a refusal is kept under it too.
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

/** Runs a mutation in one transaction, or answers what it answered before under the same Idempotency-Key. */
export async function write<T>(ctx: Context, work: (tx: Sql) => Promise<T>): Promise<T> {
  const { app, idempotency } = ctx
  if (!idempotency) return await transaction(app.pool, work)
  return await transaction(app.pool, async (tx) => {
    const claim = claimOf(ctx, idempotency)
    const [kept] = await claimKeys(app, tx, [claim])
    if (kept) return replay<T>(idempotency, kept)
    const value = await work(tx)
    await keepResults(app, tx, [{ ...claim, value }])
    return value
  })
}

/**
 * Runs work that commits piece by piece, each piece under a key of its own. The request's key is taken before, so that
 * nothing else can use it, and its answer is kept after; where the process died in between, the same request goes on.
 */
export async function writeInPieces<T>(ctx: Context, work: () => Promise<T>, isFinal: (value: T) => boolean): Promise<T> {
  const { app, idempotency } = ctx
  if (!idempotency) return await work()
  const claim = claimOf(ctx, idempotency)
  const before = await transaction(app.pool, async (tx) => (await claimKeys(app, tx, [claim]))[0])
  if (before && !isOpen(before)) return replay<T>(idempotency, before)
  const value = await work()
  if (!isFinal(value)) return value
  return await transaction(app.pool, async (tx) => {
    const [kept] = await claimKeys(app, tx, [claim])
    if (kept && !isOpen(kept)) return replay<T>(idempotency, kept)
    await keepResults(app, tx, [{ ...claim, value }])
    return value
  })
}

/**
 * Runs work that judges its request before it looks at the Idempotency-Key. What it refuses though the same request was
 * accepted before is answered as before: what was in the future then may be past by now.
 */
export async function orAsBefore<T>(ctx: Context, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const [before] = codeOf(error) === 'VALIDATION_ERROR' ? await acceptedBefore<T>([ctx]) : []
    if (before) return before
    throw error
  }
}

/** What came of the same requests before, null for those of which nothing did. Either all of them have a key or none has. */
export async function acceptedBefore<T>(requests: readonly Context[]): Promise<(T | null)[]> {
  const [first] = requests
  if (!first?.idempotency) return requests.map(() => null)
  const promises = requests.map((ctx) => ctx.idempotency as Idempotency)
  const claims = promises.map((idempotency) => claimOf(first, idempotency))
  const found = await findKeys(first.app, first.app.pool, claims)
  return found.map((kept, i) => (kept && 'ok' in kept && kept.ok ? replay<T>(promises[i] as Idempotency, kept) : null))
}

/** Taken by the same request, without an answer yet. */
export function isOpen(kept: Kept | Error): boolean {
  return kept instanceof Error && codeOf(kept) === 'IDEMPOTENCY_IN_PROGRESS'
}

/** The value that was kept. @throws the failure that was kept. */
export function replay<T>(idempotency: Idempotency, kept: Kept | Error): T {
  if (kept instanceof Error) throw kept
  idempotency.replayed = true
  if (!kept.ok) throw failure(kept.code, kept.message)
  return kept.value as T
}

/**
 * Takes keys for the transaction `tx`, in the order of their names so that two groups never wait for each other in a
 * circle. Answers for each: null (it is ours now), what was kept, or the failure of one used otherwise.
 */
export async function claimKeys(app: App, tx: Sql, claims: readonly KeyClaim[]): Promise<(Kept | Error | null)[]> {
  const inOrder = [...claims].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const names = [inOrder.map((claim) => claim.workspaceId), inOrder.map((claim) => claim.key)]
  const taken = await tx
    .query<{ workspaceId: string; key: string }>(
      `insert into idempotency_keys as k ("workspaceId", key, fingerprint)
       select * from unnest($1::uuid[], $2::text[], $3::bytea[])
       on conflict ("workspaceId", key) do update set fingerprint = excluded.fingerprint, result = null, "createdAt" = now()
         where k."createdAt" < now() - make_interval(hours => $4)
       returning "workspaceId", key`,
      [...names, inOrder.map((claim) => claim.fingerprint), keptHours],
    )
    .catch((error: { code?: string }) => (error.code === '55P03' ? fail('IDEMPOTENCY_IN_PROGRESS') : Promise.reject(error)))
  const ours = new Set(taken.rows.map(nameOf))
  if (ours.size === claims.length) return claims.map(() => null)
  const found = await findKeys(app, tx, claims)
  return claims.map((claim, i) => (ours.has(nameOf(claim)) ? null : (found[i] ?? failure('IDEMPOTENCY_IN_PROGRESS'))))
}

/** What is kept under keys that are not too old: the answer, or the failure of one used otherwise; null where nothing is. */
async function findKeys(app: App, sql: Sql, claims: readonly KeyClaim[]): Promise<(Kept | Error | null)[]> {
  const found = await sql.query<{ workspaceId: string; key: string; fingerprint: Buffer; result: Buffer | null }>(
    `select k."workspaceId", k.key, k.fingerprint, k.result from idempotency_keys k
     join unnest($1::uuid[], $2::text[]) as u(w, key) on k."workspaceId" = u.w and k.key = u.key
     where k."createdAt" >= now() - make_interval(hours => $3)`,
    [claims.map((claim) => claim.workspaceId), claims.map((claim) => claim.key), keptHours],
  )
  const rows = new Map(found.rows.map((row) => [nameOf(row), row]))
  return claims.map((claim) => {
    const row = rows.get(nameOf(claim))
    if (!row) return null
    if (!row.fingerprint.equals(claim.fingerprint)) return failure('IDEMPOTENCY_KEY_REUSED')
    return row.result ? (deserialize(app.sealer.open(row.result)) as Kept) : failure('IDEMPOTENCY_IN_PROGRESS')
  })
}

/** A key is its workspace's own. */
export function nameOf({ workspaceId, key }: Pick<KeyClaim, 'workspaceId' | 'key'>): string {
  return `${workspaceId} ${key}`
}

/** Keeps what claimed keys led to, in the transaction that did it. */
export async function keepResults(app: App, tx: Sql, results: readonly (KeyClaim & { value: unknown })[]): Promise<void> {
  const kept = results.map(({ value, ...claim }) => ({ ...claim, kept: { ok: true, value } as const }))
  await keep(app, tx, kept)
}

async function keep(app: App, tx: Sql, entries: readonly (KeyClaim & { kept: Kept })[]): Promise<void> {
  await tx.query(
    `update idempotency_keys k set result = u.result from unnest($1::uuid[], $2::text[], $3::bytea[]) as u(w, key, result)
     where k."workspaceId" = u.w and k.key = u.key`,
    [
      entries.map((entry) => entry.workspaceId),
      entries.map((entry) => entry.key),
      entries.map((entry) => app.sealer.seal(serialize(entry.kept))),
    ],
  )
}

/**
 * Keeps a refusal under the request's key; 5xx and 429 are not kept, so that a retry can succeed. Answers the error to
 * give, which is another one where the key was used before.
 */
export async function keepFailure(ctx: Context, error: Error): Promise<Error> {
  const { app, idempotency } = ctx
  const code = codeOf(error)
  if (!idempotency || idempotency.replayed || !code || code.startsWith('IDEMPOTENCY_')) return error
  const { status } = errors[code]
  if (status >= 500 || status === 429) return error
  return await transaction(app.pool, async (tx) => {
    const claim = claimOf(ctx, idempotency)
    const [kept] = await claimKeys(app, tx, [claim])
    if (kept instanceof Error) return kept
    // The same request did better somewhere else: this is its own answer, not that one again.
    if (kept?.ok) return error
    if (kept) {
      idempotency.replayed = true
      return failure(kept.code, kept.message)
    }
    await keep(app, tx, [{ ...claim, kept: { ok: false, code, message: error.message } }])
    return error
  })
}

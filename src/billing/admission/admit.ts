// Admission of API keys. One statement per batch turns keys into principals, takes from the one-second rate window and counts the request.
import { keyHash } from '../../accounts/keys/api-keys.ts'
import { keyUse } from '../../accounts/keys/key-use.ts'
import type { App } from '../../core/app.ts'
import { createBatch } from '../../core/batch.ts'
import { failure } from '../../core/errors.ts'
import type { Scope } from '../../core/graph/prepared.ts'
import { definePart } from '../../core/part.ts'
import type { KeyAccess, Principal } from '../../core/principal.ts'
import { type Admitted, admitGroups, type Group, uncountRequest } from './admit.sql.ts'
import { type RateState, rateOf } from './rate-window.ts'

type AdmissionRequest = Omit<Group, 'members'>

export interface KeyRequest {
  /** The `x-api-key` header. */
  key: unknown
  /** The `X-Team-Id` header. */
  teamId: unknown
  scope: Exclude<Scope, 'account'>
  /** A key with any of these may do what is requested. */
  access: readonly KeyAccess[]
}

export interface Admission {
  /** The caller, or null with the error of the rejection. */
  principal: Principal | null
  error: Error | null
  /** Null for a caller without a valid key. For a person it is set only on a rejection by the rate limiter. */
  rate: RateState | null
  /** Seconds until a retry makes sense; set on a 429. */
  retryAfter: number | null
}

const keyForm = /^svc_(live|team)_[0-9a-f]{64}$/

/** True if the value has the form of a key. Any other value is rejected without a database query. */
function isKey(value: unknown): value is string {
  return typeof value === 'string' && keyForm.test(value)
}

/** Returns `admit(request)`: exact across all processes, without a cache, so that a revoked key is rejected at once. */
export const admitKeys = definePart(createAdmission)

function createAdmission(app: App): (request: KeyRequest) => Promise<Admission> {
  const batch = createBatch<AdmissionRequest, Admission>({
    max: 500,
    parallel: 2,
    slowMs: 100,
    run: (requests) => admitAll(app, requests),
    observe: (size) => app.metrics.batchSize.observe({ batch: 'admit' }, size),
  })
  return async (request) => {
    if (!isKey(request.key)) return refusal('UNAUTHORIZED')
    const hash = keyHash(request.key)
    const teamId = request.teamId === undefined ? null : String(request.teamId).toLowerCase()
    return await batch({ hash, teamId, scope: request.scope, access: request.access.join() })
  }
}

function refusal(code: Exclude<Admitted['verdict'], 'ok'>, message?: string): Admission {
  return { principal: null, error: failure(code, message), rate: null, retryAfter: null }
}

/** The message of FORBIDDEN for a key whose access does not suffice. */
export function beyond(access: KeyAccess): string {
  return `A key with the access \`${access}\` cannot do this`
}

/** Takes a request out of the counts of the month and of the day again, if the rules of keys and teams rejected it after its admission. */
export async function uncount(app: App, { credentialId, ownerId }: Principal): Promise<void> {
  keyUse(app).note(credentialId, -1)
  await uncountRequest(app.quickPool, ownerId)
}

async function admitAll(app: App, requests: readonly AdmissionRequest[]): Promise<Admission[]> {
  const groups = new Map<string, Group>()
  for (const [index, request] of requests.entries()) {
    const name = `${request.hash.toString('latin1')} ${request.scope} ${request.access} ${request.teamId}`
    const group = groups.get(name)
    if (group) group.members.push(index)
    else groups.set(name, { ...request, members: [index] })
  }
  const list = [...groups.values()]
  const rows = await admitGroups(app.quickPool, list, app.config.rateLimitPerSecond)
  const answers: (Admission | undefined)[] = requests.map(() => undefined)
  for (const row of rows) {
    const group = list[row.i - 1] as Group
    if (row.verdict === 'ok') keyUse(app).note(row.keyId, row.counted)
    for (const [position, index] of group.members.entries()) answers[index] = answerOf(app, row, position)
  }
  return answers.map((answer) => answer ?? refusal('UNAUTHORIZED'))
}

function answerOf(app: App, row: Admitted, position: number): Admission {
  if (row.verdict === 'UNAUTHORIZED') return refusal(row.verdict)
  const limit = app.config.rateLimitPerSecond
  const rate = rateOf(limit, { ...row, position })
  if (row.verdict === 'FORBIDDEN') return { ...refusal(row.verdict, beyond(row.access)), rate }
  if (row.verdict === 'MAX_API_KEYS_REACHED')
    return { ...refusal(row.verdict, "This key rests, because it is over the plan's limit"), rate }
  if (row.verdict !== 'ok') return { ...refusal(row.verdict), rate }
  if (position >= row.granted) {
    return { principal: null, error: failure('API_RATE_LIMIT_EXCEEDED'), rate: { ...rate, remaining: 0 }, retryAfter: 1 }
  }
  if (position >= row.counted) {
    const error = failure('MONTHLY_API_REQUEST_QUOTA_EXCEEDED')
    return { principal: null, error, rate, retryAfter: row.untilRenewal }
  }
  const { keyId, teamId, userId, workspaceId, ownerId, plan, active, access } = row
  const kind = teamId ? 'team' : 'personal'
  const owner = { ownerId, plan, active }
  const principal: Principal = { credentialId: keyId, kind, access, userId, workspaceId, teamId, role: null, ...owner }
  return { principal, error: null, rate, retryAfter: null }
}

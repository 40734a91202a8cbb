// All error codes of the API in one table: code, HTTP status and default message.
import { GraphQLError } from 'graphql'

export const errors = {
  UNAUTHORIZED: { status: 401, message: 'Missing or invalid API key' },
  INVALID_CREDENTIALS: { status: 401, message: 'Wrong e-mail address or password' },
  FORBIDDEN: { status: 403, message: 'You are not allowed to do this' },
  SUBSCRIPTION_INACTIVE: { status: 403, message: 'Your subscription does not allow this action' },
  TEAM_KEY_REQUIRED: { status: 403, message: 'X-Team-Id requires a team key; this is a personal key' },
  TEAM_KEY_NOT_ALLOWED: { status: 403, message: 'A team key cannot be used here; use a personal key' },
  STATUSES_NOT_AVAILABLE_ON_PLAN: { status: 403, message: 'Statuses are not available on any plan' },
  WEBHOOKS_NOT_AVAILABLE_ON_PLAN: { status: 403, message: 'Webhooks are not available on this plan' },
  MAX_WEBHOOK_ENDPOINTS_REACHED: { status: 403, message: 'The plan allows no more webhook endpoints' },
  MAX_INSTANCES_REACHED: { status: 403, message: 'The plan allows no more instances' },
  MAX_API_KEYS_REACHED: { status: 403, message: 'The plan allows no more API keys' },
  MAX_CONTACT_GROUPS_REACHED: { status: 403, message: 'The plan allows no more contact groups' },
  MEDIA_STORAGE_EXCEEDED: { status: 403, message: 'The plan has no storage left for files' },
  MAX_TEAMS_REACHED: { status: 403, message: 'The plan allows no more teams' },
  MAX_TEAM_SEATS_REACHED: { status: 403, message: 'The plan allows no more seats in this team' },
  BILLING_TEAM_MUTATION_FORBIDDEN: { status: 403, message: 'Only the owner can change the billing of a team' },
  BILLING_PAYMENTS_TEAM_OWNER_ONLY: { status: 403, message: 'Only the owner can see the payments of a team' },
  EMAIL_NOT_VERIFIED: { status: 403, message: 'The e-mail address is not verified yet' },
  NOT_FOUND: { status: 404, message: 'Not found' },
  TEAM_NOT_FOUND: { status: 404, message: 'Team not found' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This path does not support this method' },
  CONFLICT: { status: 409, message: 'This already exists' },
  INVALID_STATE: { status: 409, message: 'This is not possible in the current state' },
  RECIPIENT_SUPPRESSED: { status: 409, message: 'The recipient is in the do-not-contact list' },
  IDEMPOTENCY_IN_PROGRESS: { status: 409, message: 'A request with this Idempotency-Key is still being processed' },
  PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS: { status: 409, message: 'The plan does not fit the current teams or seats' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'The body must be application/json' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, message: 'This Idempotency-Key was used with another request' },
  VALIDATION_ERROR: { status: 400, message: 'The request is invalid' },
  TEMPLATE_INVALID: { status: 400, message: 'The template is invalid' },
  INVALID_TOKEN: { status: 400, message: 'The token is invalid or has expired' },
  API_RATE_LIMIT_EXCEEDED: { status: 429, message: 'Too many requests in one second on this key' },
  MONTHLY_API_REQUEST_QUOTA_EXCEEDED: { status: 429, message: 'The monthly API request quota is used up' },
  MONTHLY_OUTBOUND_QUOTA_EXCEEDED: { status: 429, message: 'The monthly outbound quota is used up' },
  PROVIDER_ERROR: { status: 502, message: 'The provider refused the request' },
  INTERNAL_ERROR: { status: 500, message: 'Something went wrong on our side' },
  SERVICE_UNAVAILABLE: { status: 503, message: 'The service is unavailable; try again shortly' },
} as const satisfies Record<string, { status: number; message: string }>

/** The message of UNAUTHORIZED for people; that of the table is for keys. */
export const invalidToken = 'Missing or invalid token'

export type ErrorCode = keyof typeof errors

/** The fault of one field: its path, such as `to` or `buttons.0.id`, and what its value must be. */
export interface Issue {
  path: string
  message: string
}

/** The paths of fields, before the fault that they share. */
const pathsForm = /^[\w.-]+(?:, [\w.-]+)*$/
/** A longer beginning of a message is not searched for paths. */
const longestPaths = 1_000

/**
 * An error for the graph: `extensions.code` is the code, `message` is for people. If the code has status 400 and the message begins with
 * the path of a field, `extensions.issues` names it. {@link invalid} is for several faults.
 */
export function failure(code: ErrorCode, message: string = errors[code].message, issues = issuesIn(code, message)): GraphQLError {
  return new GraphQLError(message, { extensions: issues.length > 0 ? { code, issues } : { code } })
}

function issuesIn(code: ErrorCode, message: string): Issue[] {
  const paths = message.slice(0, longestPaths).split(': ', 1)[0] ?? ''
  if (errors[code].status !== 400 || !message.startsWith(': ', paths.length) || !pathsForm.test(paths)) return []
  return paths.split(', ').map((path) => ({ path, message: message.slice(paths.length + 2) }))
}

interface AboutFields {
  code?: 'VALIDATION_ERROR' | 'TEMPLATE_INVALID'
  /** True if further issues were left out. */
  more?: boolean
}

/** An error about several fields, by default a VALIDATION_ERROR. Its message joins the issues. */
export function invalid(issues: readonly Issue[], { code = 'VALIDATION_ERROR', more }: AboutFields = {}): GraphQLError {
  const byText = new Map(issues.map((issue) => [`${issue.path}: ${issue.message}`, issue]))
  return failure(code, [...byText.keys(), ...(more ? ['and more'] : [])].join('; '), [...byText.values()])
}

/** The issues of a {@link failure}; undefined if it has none. */
export function issuesOf(error: Error): Issue[] | undefined {
  return (error as GraphQLError).extensions?.issues as Issue[] | undefined
}

/** Throws {@link failure}. */
export function fail(code: ErrorCode, message?: string): never {
  throw failure(code, message)
}

/** A temporary refusal; `seconds` is sent as `Retry-After`. */
export function failureFor(seconds: number, code: ErrorCode, message?: string): GraphQLError {
  return Object.assign(failure(code, message), { retryAfterSeconds: seconds })
}

/** Throws {@link failureFor}. */
export function failFor(seconds: number, code: ErrorCode, message?: string): never {
  throw failureFor(seconds, code, message)
}

/** The seconds of {@link failureFor}, also from an error that GraphQL has wrapped; undefined for every other error. */
export function retryAfterOf(error: unknown): number | undefined {
  const { retryAfterSeconds, originalError } = error as { retryAfterSeconds?: number; originalError?: unknown }
  return retryAfterSeconds ?? (originalError ? retryAfterOf(originalError) : undefined)
}

/** The API's code of anything thrown, or null for an unforeseen error. */
export function codeOf(error: unknown): ErrorCode | null {
  const code = (error as { extensions?: { code?: unknown } } | null)?.extensions?.code
  return typeof code === 'string' && Object.hasOwn(errors, code) ? (code as ErrorCode) : null
}

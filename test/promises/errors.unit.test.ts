// Proves that the error table stays as it is: a code or a status that changes breaks integrations.
import { GraphQLEnumType } from 'graphql'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/core/errors.ts'
import { schema } from '../../src/schema.ts'

/** As the interface specification and the contract define it. */
const table = {
  VALIDATION_ERROR: 400,
  TEMPLATE_INVALID: 400,
  INVALID_TOKEN: 400,
  UNAUTHORIZED: 401,
  INVALID_CREDENTIALS: 401,
  FORBIDDEN: 403,
  SUBSCRIPTION_INACTIVE: 403,
  TEAM_KEY_REQUIRED: 403,
  TEAM_KEY_NOT_ALLOWED: 403,
  STATUSES_NOT_AVAILABLE_ON_PLAN: 403,
  WEBHOOKS_NOT_AVAILABLE_ON_PLAN: 403,
  MAX_WEBHOOK_ENDPOINTS_REACHED: 403,
  MAX_INSTANCES_REACHED: 403,
  MAX_API_KEYS_REACHED: 403,
  MAX_CONTACT_GROUPS_REACHED: 403,
  MEDIA_STORAGE_EXCEEDED: 403,
  MAX_TEAMS_REACHED: 403,
  MAX_TEAM_SEATS_REACHED: 403,
  BILLING_TEAM_MUTATION_FORBIDDEN: 403,
  BILLING_PAYMENTS_TEAM_OWNER_ONLY: 403,
  EMAIL_NOT_VERIFIED: 403,
  NOT_FOUND: 404,
  TEAM_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  INVALID_STATE: 409,
  RECIPIENT_SUPPRESSED: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_KEY_REUSED: 422,
  API_RATE_LIMIT_EXCEEDED: 429,
  MONTHLY_API_REQUEST_QUOTA_EXCEEDED: 429,
  MONTHLY_OUTBOUND_QUOTA_EXCEEDED: 429,
  INTERNAL_ERROR: 500,
  PROVIDER_ERROR: 502,
  SERVICE_UNAVAILABLE: 503,
}

describe('an error', () => {
  it('has the code and the status of the contract, and no others exist', () => {
    expect(Object.fromEntries(Object.entries(errors).map(([code, { status }]) => [code, status]))).toEqual(table)
  })

  it('explains in words what is wrong, without revealing internals', () => {
    for (const [code, { message }] of Object.entries(errors)) {
      expect(message, code).toMatch(/^[A-Z].{3,99}[^.!]$/)
      expect(message, code).not.toMatch(/sql|postgres|prisma|stack|exception/i)
    }
  })

  it('has one and the same message for every invalid key', () => {
    expect(errors.UNAUTHORIZED.message).toBe('Missing or invalid API key')
  })

  it('has its code in the GraphQL enum ErrorCode', () => {
    const type = schema.getType('ErrorCode')
    const codes = type instanceof GraphQLEnumType ? type.getValues().map(({ name }) => name) : []
    expect(codes.sort()).toEqual(Object.keys(table).sort())
  })
})
